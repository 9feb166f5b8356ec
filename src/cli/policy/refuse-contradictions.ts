import { agentOf, DEFAULT_AGENT, homeAgent } from '../../agents/agents.ts';
import { usageError } from '../../core/errors.ts';
import type { Program } from '../../core/types/plan.ts';
import type { Policy } from '../../core/types/policy.ts';
import type { RunLine } from '../grammar/parse-command-line.ts';
import type { ProjectPolicy } from './read-policy.ts';

type Origins = ProjectPolicy['origins'];

/**
 * Refuses settings that contradict each other, whatever source each of them has.
 *
 * @throws {RunClaudeError} USAGE
 */
export function refuseContradictions(
  { policy, origins }: Pick<ProjectPolicy, 'policy' | 'origins'>,
  line: Pick<RunLine, 'action' | 'program'>,
): void {
  const copyOnly = COPY_SETTINGS.find(
    ({ key, isOn, isAlwaysRefused }) => isOn(policy) && (isAlwaysRefused === true || isFlag(origins.get(key))),
  );
  if (policy.mode === 'bind' && copyOnly !== undefined)
    throw usageError(`${copyOnly.name} needs copy mode, and this is bind mode`, wayToCopy(origins.get('mode')));
  if (policy.image !== undefined && policy.toolchain) {
    throw usageError(
      '--toolchain and --image exclude each other',
      "Leave one of them out: --toolchain is a variant of run-claude's own image. A custom image can have compilers too.",
    );
  }
  refuseWithoutNetwork(policy, origins, line.program);
  const agent = homeAgent(line.program);
  const claudes = policy.isolateClaudeData
    ? 'isolate-claude-data'
    : policy.profile === undefined
      ? undefined
      : 'profile';
  if (claudes !== undefined && agent !== DEFAULT_AGENT)
    throw usageError(`--${claudes}: not with ${agent.title}`, 'Leave it out: it is about the data of Claude.');
  if (policy.claudeVersion !== undefined && isFlag(origins.get('claudeVersion')) && agent !== DEFAULT_AGENT)
    throw usageError(`--claude-version: not with ${agent.title}`, 'Leave it out: it is about the program of Claude.');
  if (policy.credentials === 'file' && agent !== DEFAULT_AGENT)
    throw usageError(`--credentials file: not with ${agent.title}`, 'Leave it out: the gateway has the credential.');
  if ((line.action === 'dry-run' || line.action === 'check') && policy.rebuild)
    throw usageError(
      `--${line.action} and --rebuild exclude each other`,
      'Leave out --rebuild. To rebuild the image: run-claude build --rebuild',
    );
}

/** How the session would work on a copy. `origin`: what chose its mode. */
const wayToCopy = (origin: string | undefined): string =>
  origin === '--bind' ? 'Leave out --bind, and add --copy.' : 'Add --copy.';

const isFlag = (origin: string | undefined): boolean =>
  origin?.split(', ').some((one) => one.startsWith('--')) === true;

interface CopySetting {
  readonly key: keyof Policy;
  readonly name: string;
  readonly isOn: (policy: Policy) => boolean;
  /** From a file too. The others are refused on the command line alone: a file is for sessions of both modes. */
  readonly isAlwaysRefused?: true;
}

/** In bind mode the agent has the project itself: nothing is left out or brought back. */
const COPY_SETTINGS: readonly CopySetting[] = [
  { key: 'autoApply', name: '--auto-apply', isOn: ({ autoApply }) => autoApply, isAlwaysRefused: true },
  { key: 'strategy', name: 'a strategy', isOn: ({ strategy }) => strategy !== 'auto' },
  { key: 'also', name: '--also', isOn: ({ also = [] }) => also.length > 0, isAlwaysRefused: true },
  { key: 'shallow', name: '--shallow', isOn: ({ shallow }) => shallow, isAlwaysRefused: true },
  { key: 'copyIgnored', name: '--no-ignored', isOn: ({ copyIgnored }) => copyIgnored === false, isAlwaysRefused: true },
  { key: 'exclude', name: '--exclude', isOn: ({ exclude }) => exclude.length > 0 },
  { key: 'include', name: '--include', isOn: ({ include }) => include.length > 0 },
  { key: 'includeIgnored', name: '--include-ignored', isOn: ({ includeIgnored }) => includeIgnored !== false },
  { key: 'verify', name: '--verify', isOn: ({ verify }) => verify },
];

const NOTHING = {
  ports: [],
  allowLocal: [],
  allowHosts: [],
  allowAddresses: [],
  brokers: [],
  allowRequests: [],
  mcpServers: [],
  mcpPrograms: [],
} satisfies Partial<Policy>;

/** What the gateway does for a session, by the setting and how the user writes it. */
const GATEWAY_SETTINGS: readonly { readonly key: keyof Policy; readonly name: string }[] = [
  { key: 'ports', name: 'port' },
  { key: 'allowLocal', name: 'allow-local' },
  { key: 'allowHosts', name: 'allow-host' },
  { key: 'allowAddresses', name: 'allow-address' },
  { key: 'networkPresets', name: 'network-presets' },
  { key: 'brokers', name: '[[broker]]' },
  { key: 'allowRequests', name: '[[allow]]' },
  { key: 'mcpServers', name: '[[mcp]]' },
  { key: 'mcpPrograms', name: '[[mcp]]' },
];

/** The settings of the gateway that have a value of the user's, with what set them. */
function gatewaySettings(policy: Policy, origins: Origins) {
  return GATEWAY_SETTINGS.filter(({ key }) => {
    const value = policy[key];
    return origins.has(key) && Array.isArray(value) && value.length > 0;
  }).map(({ key, name }) => ({ name, isFlag: isFlag(origins.get(key)) }));
}

/**
 * Without a network there is no gateway. An agent then ends at its first request, and options of the command line that are
 * about the network have no effect.
 */
function refuseWithoutNetwork(policy: Policy, origins: Origins, program: Program): void {
  if (policy.network !== 'none') return;
  const by = origins.get('network') ?? 'network';
  const source = isFlag(by) ? '--network none' : `network = "none" of ${by}`;
  const named = gatewaySettings(policy, origins).filter((one) => one.isFlag);
  if (named.length > 0) {
    const options = named.map(({ name }) => `--${name}`);
    throw usageError(
      `${options.join(' and ')}: not with ${source}`,
      `Leave out ${options.join(' and ')}, or add --network gateway: the connections pass the gateway.`,
    );
  }
  const agent = agentOf(program);
  // With --credentials none the user says that the agent needs no provider of the network.
  if (agent?.loginHint === undefined || policy.credentials === 'none') return;
  throw usageError(
    `${agent.title} cannot reach its provider with ${source}`,
    'To give it the provider and your allowed hosts alone: --network gateway. Without an agent: run-claude exec -- COMMAND',
  );
}

/**
 * What of the configuration a session without a network does not use: a line that names it, and the policy without it.
 */
export function withoutUnused({ policy, origins }: Pick<ProjectPolicy, 'policy' | 'origins'>): {
  readonly policy: Policy;
  readonly warnings: readonly string[];
} {
  if (policy.network !== 'none') return { policy, warnings: [] };
  const names = [...new Set(gatewaySettings(policy, origins).map(({ name }) => name))];
  const unused = names.length === 0 ? [] : [`without a network these settings are not used: ${names.join(', ')}`];
  return { policy: { ...policy, ...NOTHING }, warnings: unused };
}
