import { AGENT_NAMES } from '../types/agent/agent-package.ts';
import type { Policy } from '../types/policy.ts';
import { STRATEGY_NAMES } from '../types/strategy.ts';

/** The form of a setting's value. In files, numbers and lists are written as such and everything else as text. */
export type Form =
  /** `isOpen`: other words are names that are checked when all sources are known. */
  | { readonly kind: 'choice'; readonly of: readonly string[]; readonly isOpen?: true }
  | { readonly kind: 'switch' }
  | { readonly kind: 'size'; readonly minMb: number }
  | { readonly kind: 'duration' }
  | { readonly kind: 'count'; readonly min: number }
  | { readonly kind: 'amount' }
  | { readonly kind: 'cpus' }
  | { readonly kind: 'text' }
  | { readonly kind: 'list'; readonly isOfPatterns?: true }
  | { readonly kind: 'switch-or-list' }
  | { readonly kind: 'variables' };

/**
 * What the project's own file may do with a setting: it comes with the repository and may be hostile.
 * smaller: set a smaller value than the user's. tighter: choose a word further left in the form's order.
 * add: add entries to the user's. on, off: set this value only. never: nothing.
 */
export type Tighten = 'smaller' | 'tighter' | 'add' | 'on' | 'off' | 'never';

export interface Setting {
  /** `name = …` in the files; `RUN_CLAUDE_NAME` in the environment unless `environment` is false. */
  readonly name: string;
  readonly key: keyof Policy;
  readonly form: Form;
  readonly tighten: Tighten;
  /** Default true. */
  readonly file?: boolean;
  /** Default true. */
  readonly environment?: boolean;
}

/** Patterns of paths, in gitignore's language. */
const PATTERNS: Form = { kind: 'list', isOfPatterns: true };
const choice = (...of: readonly string[]): Form => ({ kind: 'choice', of });

/** Every setting. Where `tighten` is 'tighter', the choices are in order from tight to loose. */
export const SETTINGS: readonly Setting[] = [
  { name: 'mode', key: 'mode', form: choice('copy', 'bind'), tighten: 'tighter' },
  { name: 'strategy', key: 'strategy', form: choice('auto', ...STRATEGY_NAMES), tighten: 'never' },
  { name: 'shallow', key: 'shallow', form: { kind: 'switch' }, tighten: 'on' },
  { name: 'repo', key: 'repo', form: { kind: 'switch' }, tighten: 'never' },
  { name: 'auto-apply', key: 'autoApply', form: { kind: 'switch' }, tighten: 'never', file: false, environment: false },
  { name: 'allow-suspect', key: 'allowSuspect', form: PATTERNS, tighten: 'never' },
  { name: 'yes', key: 'yes', form: { kind: 'switch' }, tighten: 'never', file: false, environment: false },
  { name: 'fail-on', key: 'failOn', form: choice('note', 'suspect', 'blocked'), tighten: 'tighter' },
  { name: 'new-kinds', key: 'newKinds', form: choice('ask', 'note'), tighten: 'tighter' },
  { name: 'rehearse', key: 'rehearse', form: choice('always', 'ask', 'off'), tighten: 'tighter' },
  { name: 'test', key: 'test', form: { kind: 'list' }, tighten: 'never', file: false, environment: false },
  {
    name: 'require-tests',
    key: 'requireTests',
    form: { kind: 'switch' },
    tighten: 'never',
    file: false,
    environment: false,
  },
  { name: 'also', key: 'also', form: { kind: 'list' }, tighten: 'never', file: false, environment: false },
  { name: 'exclude', key: 'exclude', form: PATTERNS, tighten: 'add' },
  { name: 'include', key: 'include', form: PATTERNS, tighten: 'never' },
  { name: 'mask', key: 'mask', form: PATTERNS, tighten: 'add' },
  { name: 'unmask', key: 'unmask', form: PATTERNS, tighten: 'never' },
  { name: 'copy-ignored', key: 'copyIgnored', form: { kind: 'switch' }, tighten: 'off' },
  { name: 'include-ignored', key: 'includeIgnored', form: { kind: 'switch-or-list' }, tighten: 'off' },
  { name: 'tmpdir', key: 'tmpdir', form: { kind: 'text' }, tighten: 'never', file: false },
  { name: 'memory', key: 'memoryMb', form: { kind: 'size', minMb: 64 }, tighten: 'smaller' },
  { name: 'cpus', key: 'cpus', form: { kind: 'cpus' }, tighten: 'smaller' },
  { name: 'pids', key: 'pids', form: { kind: 'count', min: 16 }, tighten: 'smaller' },
  { name: 'tmp-size', key: 'tmpMb', form: { kind: 'size', minMb: 1 }, tighten: 'smaller' },
  { name: 'disk', key: 'diskMb', form: { kind: 'size', minMb: 1 }, tighten: 'smaller' },
  { name: 'timeout', key: 'timeoutMs', form: { kind: 'duration' }, tighten: 'smaller' },
  { name: 'idle-timeout', key: 'idleTimeoutMs', form: { kind: 'duration' }, tighten: 'smaller' },
  { name: 'notify', key: 'notify', form: { kind: 'list' }, tighten: 'never', environment: false },
  { name: 'keep-awake', key: 'keepAwake', form: { kind: 'switch' }, tighten: 'off' },
  { name: 'max-cost', key: 'maxCostUsd', form: { kind: 'amount' }, tighten: 'smaller' },
  { name: 'max-requests', key: 'maxRequests', form: { kind: 'count', min: 1 }, tighten: 'smaller' },
  { name: 'network', key: 'network', form: choice('none', 'gateway', 'open'), tighten: 'tighter' },
  { name: 'allow-host', key: 'allowHosts', form: { kind: 'list' }, tighten: 'never' },
  { name: 'allow-address', key: 'allowAddresses', form: { kind: 'list' }, tighten: 'never' },
  { name: 'network-presets', key: 'networkPresets', form: { kind: 'list' }, tighten: 'never' },
  { name: 'port', key: 'ports', form: { kind: 'list' }, tighten: 'never' },
  { name: 'allow-local', key: 'allowLocal', form: { kind: 'list' }, tighten: 'never' },
  // A file has the servers' tables by this name.
  { name: 'mcp', key: 'mcp', form: { kind: 'switch' }, tighten: 'off', file: false },
  { name: 'credentials', key: 'credentials', form: choice('none', 'broker', 'file'), tighten: 'tighter' },
  {
    name: 'fresh-creds',
    key: 'freshCreds',
    form: { kind: 'switch' },
    tighten: 'never',
    file: false,
    environment: false,
  },
  { name: 'env', key: 'env', form: { kind: 'variables' }, tighten: 'never', environment: false },
  { name: 'env-file', key: 'envFiles', form: { kind: 'list' }, tighten: 'never' },
  { name: 'with', key: 'with', form: { kind: 'list' }, tighten: 'never', file: false },
  { name: 'cache', key: 'caches', form: { kind: 'list' }, tighten: 'never' },
  { name: 'approved', key: 'approved', form: { kind: 'list' }, tighten: 'never' },
  { name: 'allow-git-push', key: 'allowGitPush', form: { kind: 'switch' }, tighten: 'off' },
  { name: 'permissions', key: 'permissions', form: choice('ask', 'skip'), tighten: 'tighter' },
  { name: 'engine', key: 'engine', form: choice('auto', 'docker', 'podman'), tighten: 'never' },
  { name: 'on', key: 'on', form: { kind: 'text' }, tighten: 'never' },
  { name: 'runtime', key: 'runtime', form: { kind: 'text' }, tighten: 'never' },
  { name: 'agent', key: 'agent', form: { kind: 'choice', of: AGENT_NAMES, isOpen: true }, tighten: 'never' },
  { name: 'gpu', key: 'gpu', form: { kind: 'switch' }, tighten: 'off' },
  { name: 'image', key: 'image', form: { kind: 'text' }, tighten: 'never' },
  { name: 'toolchain', key: 'toolchain', form: { kind: 'switch' }, tighten: 'off' },
  { name: 'claude-version', key: 'claudeVersion', form: { kind: 'text' }, tighten: 'never' },
  { name: 'rebuild', key: 'rebuild', form: { kind: 'switch' }, tighten: 'never', file: false, environment: false },
  { name: 'isolate-claude-data', key: 'isolateClaudeData', form: { kind: 'switch' }, tighten: 'on' },
  { name: 'sync-back', key: 'syncBack', form: { kind: 'switch' }, tighten: 'off' },
  { name: 'profile', key: 'profile', form: { kind: 'text' }, tighten: 'never' },
  { name: 'verify', key: 'verify', form: { kind: 'switch' }, tighten: 'on' },
  { name: 'report', key: 'report', form: { kind: 'text' }, tighten: 'never', file: false, environment: false },
  { name: 'quiet', key: 'quiet', form: { kind: 'switch' }, tighten: 'never', file: false, environment: false },
  { name: 'trace', key: 'trace', form: { kind: 'switch' }, tighten: 'never', file: false, environment: false },
];

/** The values of settings that no source sets. undefined means: no such limit, or decided when planning. */
export const DEFAULTS: Policy = {
  mode: 'bind',
  strategy: 'auto',
  shallow: false,
  repo: false,
  autoApply: false,
  allowSuspect: [],
  yes: false,
  failOn: undefined,
  newKinds: 'ask',
  rehearse: 'off',
  test: [],
  tests: [],
  scenes: [],
  requireTests: false,
  also: [],
  exclude: [],
  include: [],
  mask: [],
  unmask: [],
  copyIgnored: true,
  includeIgnored: false,
  tmpdir: undefined,
  memoryMb: 8192,
  cpus: 0,
  pids: 4096,
  tmpMb: 512,
  diskMb: undefined,
  timeoutMs: undefined,
  idleTimeoutMs: 12 * 3_600_000,
  notify: [],
  keepAwake: false,
  maxCostUsd: undefined,
  maxRequests: undefined,
  network: 'gateway',
  allowHosts: [],
  allowAddresses: [],
  networkPresets: ['default'],
  brokers: [],
  ports: [],
  allowLocal: [],
  mcp: true,
  credentials: 'broker',
  freshCreds: false,
  env: {},
  envFiles: [],
  with: [],
  caches: [],
  approved: [],
  allowGitPush: false,
  // In bind mode the default is 'ask' (merge-policy.ts).
  permissions: 'skip',
  engine: 'auto',
  on: undefined,
  runtime: undefined,
  agent: undefined,
  gpu: false,
  image: undefined,
  toolchain: false,
  claudeVersion: undefined,
  rebuild: false,
  isolateClaudeData: false,
  syncBack: true,
  profile: undefined,
  verify: false,
  report: undefined,
  quiet: false,
  trace: false,
  auditRules: [],
  auditSeverities: {},
};

/** The settings by name. */
export const settingNamed: ReadonlyMap<string, Setting> = new Map(SETTINGS.map((setting) => [setting.name, setting]));

/** The environment variable of a setting: RUN_CLAUDE_TMP_SIZE for tmp-size. */
export function variableOf(setting: Setting): string {
  return `RUN_CLAUDE_${setting.name.toUpperCase().replaceAll('-', '_')}`;
}
