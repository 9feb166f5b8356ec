import { createHash } from 'node:crypto';
import { joinEnvironments } from '../../core/config/values/environment.ts';
import { formatDurationMs, formatSizeMb } from '../../core/config/values/quantities.ts';
import { startOrder, whyNotTogether } from '../../core/config/values/service-order.ts';
import { EXIT, RunClaudeError, usageError } from '../../core/errors.ts';
import type { Policy, Service } from '../../core/types/policy.ts';
import type { Environment } from '../../core/types/setup/environment.ts';
import type { ProjectRequest } from '../../core/types/setup/request.ts';

/** Long enough that nobody finds two requests with the same digest. */
const DIGEST_CHARACTERS = 32;

/** Names a request: the same words and the same files give the same digest on every machine. */
export function requestDigest({
  environment,
  contents = {},
  image,
  services = [],
  ports = [],
}: ProjectRequest): string {
  const { packages, setup, env, files } = environment;
  const canonical = [
    1,
    packages,
    setup ?? null,
    Object.entries(env).sort(byName),
    files,
    image ?? null,
    // A request without services or ports has the digest that it had before there were any.
    ...(services.length === 0 ? [] : [services.map(canonicalService)]),
    ...ports,
    ...(Object.keys(contents).length === 0 ? [] : [Object.entries(contents).sort(byName)]),
  ];
  return createHash('sha256').update(JSON.stringify(canonical)).digest('hex').slice(0, DIGEST_CHARACTERS);
}

/** Every value of a service, in its own order. */
function canonicalService(service: Service): readonly unknown[] {
  return Object.entries({ ...service, env: Object.entries(service.env).sort(byName) })
    .filter(([, value]) => value !== undefined)
    .sort(byName);
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Facts that decide about a request. */
export interface RequestFacts {
  readonly request: ProjectRequest | undefined;
  /** Digests that the user agreed to for this project before. */
  readonly pinned: readonly string[];
  readonly policy: Pick<Policy, 'approved' | 'yes'>;
  /** There is a terminal on which the user can be asked. */
  readonly canAsk: boolean;
}

export type RequestDecision = 'nothing' | 'approved' | 'ask' | 'refuse';

/** What becomes of a project's request. All of it or nothing: no part is taken without the rest. */
export function decideRequest({ request, pinned, policy, canAsk }: RequestFacts): RequestDecision {
  if (request === undefined) return 'nothing';
  const digest = requestDigest(request);
  if (pinned.includes(digest) || (policy.approved ?? []).includes(digest)) return 'approved';
  return canAsk && !policy.yes ? 'ask' : 'refuse';
}

/**
 * The policy with what the project asked for. Call it only for a request that the user agreed to.
 *
 * @throws {RunClaudeError} USAGE where the project asks for an image, and the user for compilers or for MCP servers that
 * have secrets and would run in it; and where its services and the user's cannot be in one session.
 */
export function withRequest<
  P extends Pick<Policy, 'environment' | 'image' | 'toolchain' | 'mcpPrograms' | 'services' | 'ports'>,
>(policy: P, { environment, image, services, ports = [] }: ProjectRequest): P {
  const { environment: own, ports: ownPorts = [] } = policy;
  if (image !== undefined && policy.toolchain)
    throw usageError(
      `the project asks for the image ${image}, and --toolchain is another image`,
      'Leave out one of them.',
    );
  const secretive = policy.mcpPrograms?.find(({ secrets }) => Object.keys(secrets).length > 0);
  if (image !== undefined && policy.image === undefined && secretive !== undefined)
    throw usageError(
      `the project asks for the image ${image}, in which [[mcp]] ${secretive.name} would run with its secrets`,
      `If you trust that image, name it yourself: --image ${image}. Or leave the server out: --no-mcp`,
    );
  return {
    ...policy,
    // The user's own image counts.
    image: policy.image ?? image,
    environment: own === undefined ? environment : joinOwn(own, environment),
    ...(services === undefined ? {} : { services: joinServices(policy.services ?? [], services) }),
    // The user's own PORT:HOSTPORT counts.
    ports: [...ownPorts, ...ports.map(String).filter((port) => !ownPorts.some((own) => own.split(':')[0] === port))],
  };
}

/** The user's own variable counts where the project asks for another value: the user's own setup reads it too. */
function joinOwn(own: Environment, asked: Environment): Environment {
  const both = joinEnvironments(own, asked);
  return { ...both, env: { ...both.env, ...own.env } };
}

/** The user's own service counts where the project asks for another one of that name. */
function joinServices(own: readonly Service[], asked: readonly Service[]): readonly Service[] {
  const all = [...own, ...asked.filter(({ name }) => own.every((one) => one.name !== name))];
  const wrong = whyNotTogether(all);
  if (wrong === undefined) return startOrder(all) ?? [];
  throw usageError(
    `your services and those that the project asks for: ${wrong}`,
    'Change yours: those of the project are asked for as they are.',
  );
}

/** The whole request, one line for each fact; the command is last, next to the question. It comes with the repository: clean each line before it is printed. */
export function describeRequest(request: ProjectRequest): string[] {
  const { packages, setup, env, files } = request.environment;
  const rows = [
    ...(request.image === undefined
      ? []
      : ([
          ['image', request.image],
          ['', 'its own programs run as root while run-claude builds on it'],
        ] as const)),
    ...(request.ports ?? []).map((port) => ['port', `${port}: the agent shows a page in your browser`] as const),
    ...packages.map((name) => ['package', name] as const),
    ...Object.entries(env).map(([name, value]) => ['variable', `${name}=${value}`] as const),
    ...files.map((file) => ['file for setup', file] as const),
    ...(request.services ?? []).flatMap(serviceRows),
    ...(setup === undefined ? [] : linesOf('setup', setup)),
  ];
  return rows.map(([what, text]) => `${what.padEnd(16)}${text}`);
}

/** Without the empty line after the last one, as a text between three quotes has it. */
function linesOf(what: string, text: string): (readonly [string, string])[] {
  return text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => [what, line]);
}

function serviceRows(service: Service): (readonly [string, string])[] {
  const { name, image, packages, command, port, env, ready, data, seed, files, reaches } = service;
  const limits = [
    `${formatSizeMb(service.memoryMb)} memory`,
    `${formatSizeMb(service.diskMb)} disk`,
    `ready within ${formatDurationMs(service.readyMs)}`,
  ];
  return [
    ['service', `${name}, at port ${port}; its data in ${data}; ${limits.join(', ')}`],
    ...(image === undefined
      ? []
      : ([
          ['  image', image],
          ['', 'its own programs run as root while run-claude builds on it'],
        ] as const)),
    ...packages.map((one) => ['  package', one] as const),
    ...Object.entries(env).map(([key, value]) => ['  variable', `${key}=${value}`] as const),
    ...reaches.map((one) => ['  reaches', one] as const),
    ...files.map((file) => ['  file for seed', file] as const),
    ...linesOf('  command', commandText(command)),
    ...(ready === undefined ? [] : linesOf('  ready', ready)),
    ...(seed === undefined ? [] : linesOf('  seed', seed)),
  ];
}

/** A shell's command as it was written; other words quoted. */
function commandText(command: readonly string[]): string {
  const [shell, option, text] = command;
  const isShell = command.length === 3 && shell === '/bin/bash' && option === '-c' && text !== undefined;
  return isShell ? text : command.map((word) => JSON.stringify(word)).join(' ');
}

/** The refusal of a request that nobody agreed to. */
export function requestRefused(request: ProjectRequest): RunClaudeError {
  const digest = requestDigest(request);
  return new RunClaudeError('REQUEST_NOT_APPROVED', 'the project asks for more than you allowed', {
    status: EXIT.usage,
    hint: `Read the request with run-claude --dry-run, then add --approve ${digest}, or approved = ["${digest}"] to the table of the project in your config.toml. On a terminal run-claude asks.`,
  });
}
