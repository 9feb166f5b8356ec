import { homedir } from 'node:os';
import { RunClaudeError, usageError } from '../../../core/errors.ts';
import { outputOfProgram } from '../../../core/host/programs/start-program.ts';
import type { CredentialSource } from '../../../core/types/agent/credential.ts';
import type { BrokeredHost } from '../../../core/types/gateway.ts';
import type { AllowRule, BrokerRule, McpServer, Policy } from '../../../core/types/policy.ts';
import { parseHostRule } from './host-rules.ts';
import { brokeredProgram, refuseSameNames, wayOut } from './mcp-programs.ts';
import { checkMcpServer, isRemote, mcpHost } from './mcp-servers.ts';
import { passedAlso } from './passed-names.ts';
import { parseRequestRule } from './request-rules.ts';

const TIMEOUT_MS = 30_000;

/** The rules that make the gateway read requests. */
export type ReadHosts = Pick<Policy, 'brokers' | 'allowRequests' | 'mcpServers' | 'mcpPrograms'>;

/**
 * Refuses what cannot be a rule, before anything is started.
 *
 * @throws {RunClaudeError} BROKER_FAILED, USAGE
 */
export function checkBrokers({ brokers, allowRequests, mcpServers = [], mcpPrograms = [] }: ReadHosts): void {
  allowedHosts(allowRequests);
  for (const rule of brokers) brokeredHost(rule);
  for (const server of mcpServers) checkMcpServer(server);
  for (const program of mcpPrograms) wayOut(program);
  refuseSameNames(mcpPrograms);
}

/**
 * The hosts whose requests the gateway reads. `companionTokens`: by the name of the program; `logins`: by that of the MCP
 * server. Runs each rule's command on this host for the header's value. Only the gateway gets the value. `known`: what was
 * resolved before, in place of the brokers and the MCP servers.
 *
 * @throws {RunClaudeError} BROKER_FAILED when a command fails or prints nothing (its output is not shown), and for a
 * broker whose host is a wildcard, an address or has another port than 443; USAGE for the same of an allow rule, for a request that
 * cannot be read, and for the address of an MCP server; MCP_LOGIN_MISSING and CREDENTIAL_EXPIRED for a login.
 */
export async function resolveBrokers(
  { brokers, allowRequests, mcpServers = [], mcpPrograms = [] }: ReadHosts,
  companionTokens: ReadonlyMap<string, string> = new Map(),
  logins: ReadonlyMap<string, CredentialSource> = new Map(),
  known?: readonly BrokeredHost[],
): Promise<readonly BrokeredHost[]> {
  const allowed = allowedHosts(allowRequests);
  const resolved =
    known ??
    (await Promise.all([
      ...brokers.map(resolveBroker),
      ...mcpServers.filter(isRemote).map((server) => resolveServer(server, logins)),
    ]));
  const programs = mcpPrograms.map((program) => brokeredProgram(program, companionTokens.get(program.name)));
  return [...allowed, ...programs, ...resolved];
}

/**
 * A broker's host with its secret.
 *
 * @throws {RunClaudeError} BROKER_FAILED as resolveBrokers
 */
export function resolveBroker(rule: BrokerRule): Promise<BrokeredHost> {
  return withSecret(brokeredHost(rule), rule, `[[broker]] ${rule.host}`);
}

/**
 * The host of an MCP server with its secret or its login.
 *
 * @throws {RunClaudeError} as resolveBrokers
 */
export async function resolveServer(
  server: McpServer,
  logins: ReadonlyMap<string, CredentialSource>,
): Promise<BrokeredHost> {
  const { name, oauth } = server;
  if (oauth !== true) return withSecret(mcpHost(server), server, `[[mcp]] ${name}`);
  const login = logins.get(name);
  if (login === undefined) throw usageError(`[[mcp]] ${name}: its login is not known here`);
  return { ...mcpHost(server), login: { name, secret: await login.current() } };
}

async function withSecret(
  host: BrokeredHost,
  { header, from }: { readonly header?: string | undefined; readonly from?: readonly string[] | undefined },
  where: string,
): Promise<BrokeredHost> {
  if (header === undefined || from === undefined) return host;
  return { ...host, secret: { header, value: await outputOf(from, where) } };
}

function allowedHosts(rules: readonly AllowRule[] = []): BrokeredHost[] {
  return rules.map((rule) => {
    const where = `[[allow]] ${rule.host}`;
    const host = oneHost(rule.host, '[[allow]]');
    if (host === undefined) throw usageError(`${where}: requests are read for one host on port 443`);
    return { host, passes: passesOf(rule.requests, where), ...passedAlso(rule, where) };
  });
}

/**
 * A broker's host and what passes to it, without the secret.
 *
 * @throws {RunClaudeError} BROKER_FAILED for a host that cannot have a secret, USAGE for a request that cannot be read
 */
export function brokeredHost(rule: BrokerRule): BrokeredHost {
  const host = oneHost(rule.host, '[[broker]]');
  if (host !== undefined) return { host, passes: passesOfBroker(rule), ...passedAlso(rule, `[[broker]] ${rule.host}`) };
  throw new RunClaudeError('BROKER_FAILED', `[[broker]] ${rule.host}: a secret goes to one host on port 443`);
}

/** The name of a rule that stands for one host and its usual port. */
function oneHost(text: string, from: string): string | undefined {
  const { host, port = 443 } = parseHostRule(text, from);
  return host.startsWith('*.') || port !== 443 ? undefined : host;
}

function passesOfBroker({ host, methods, requests }: BrokerRule): BrokeredHost['passes'] {
  return requests === undefined ? { methods } : passesOf(requests, `[[broker]] ${host}`);
}

const passesOf = (requests: readonly string[], from: string): BrokeredHost['passes'] => ({
  requests: requests.map((text) => parseRequestRule(text, from)),
});

/**
 * What a command line of the user's prints, one line, without blanks at its ends.
 *
 * @throws {RunClaudeError} BROKER_FAILED; its output is not shown
 */
export async function outputOf(
  [program, ...args]: readonly string[],
  where: string,
  what = 'header value',
): Promise<string> {
  const hint = `Its command must print the ${what}, one line.`;
  if (program === undefined) throw new RunClaudeError('BROKER_FAILED', `${where} names no command`, { hint });
  let value: string;
  try {
    const { stdout } = await outputOfProgram(program, args, { cwd: homedir(), timeout: TIMEOUT_MS });
    value = stdout.trim();
  } catch {
    // The error would carry the command's output.
    throw new RunClaudeError('BROKER_FAILED', `${where}: ${program} failed`, { hint });
  }
  if (!/^[\x20-\x7e]+$/.test(value)) {
    throw new RunClaudeError('BROKER_FAILED', `${where}: ${program} printed no ${what}`, { hint });
  }
  return value;
}
