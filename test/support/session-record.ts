import type { Plan, ProjectFacts } from '../../src/core/types/plan.ts';
import type { Policy } from '../../src/core/types/policy.ts';
import type { SessionRecord } from '../../src/core/types/session.ts';

/** What a test says of a session's plan; the rest is that of a copy session with the default options. */
export type PlanParts = Partial<Omit<Plan, 'policy' | 'project'>> & {
  readonly policy?: Partial<Policy>;
  readonly project?: Partial<ProjectFacts>;
};

const POLICY: Policy = {
  mode: 'copy',
  strategy: 'auto',
  shallow: false,
  repo: false,
  autoApply: false,
  allowSuspect: [],
  yes: false,
  failOn: undefined,
  newKinds: 'ask',
  exclude: [],
  include: [],
  mask: [],
  includeIgnored: false,
  tmpdir: undefined,
  memoryMb: 8192,
  cpus: 0,
  pids: 4096,
  tmpMb: 512,
  diskMb: undefined,
  timeoutMs: undefined,
  maxCostUsd: undefined,
  maxRequests: undefined,
  network: 'gateway',
  allowHosts: [],
  allowAddresses: [],
  networkPresets: ['default'],
  brokers: [],
  credentials: 'none',
  freshCreds: false,
  env: {},
  allowGitPush: false,
  permissions: 'skip',
  engine: 'auto',
  runtime: undefined,
  agent: undefined,
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

const ENGINE: Plan['engine'] = {
  kind: 'docker',
  name: 'Docker 28.5.1',
  version: '28.5.1',
  apiVersion: '1.51',
  endpoint: 'unix:///var/run/docker.sock',
  os: 'linux',
  arch: 'amd64',
  kernel: '6.12.0',
  local: true,
  rootless: false,
  usernsRemap: false,
  cgroupVersion: 2,
  seccomp: true,
  memoryLimit: true,
  swapLimit: true,
  pidsLimit: true,
  cpuLimit: true,
  runtimes: ['runc'],
  dataRoot: '/var/lib/docker',
};

const PROJECT: ProjectFacts = {
  root: '/p',
  startIn: '',
  git: 'none',
  gitCommonDir: undefined,
  ownerUid: 1000,
  ownerGid: 1000,
};

export function planWith({ policy, project, ...parts }: PlanParts): Plan {
  return {
    sessionId: '261121-140512-k7p',
    mode: 'copy',
    claudeVersion: undefined,
    project: { ...PROJECT, ...project },
    policy: { ...POLICY, ...policy },
    engine: ENGINE,
    image: 'run-claude:00000000000000aa',
    program: { kind: 'exec', argv: ['make'] },
    tty: false,
    strategy: 'layers',
    strategyReason: 'fastest on this machine',
    user: '1000:1000',
    env: {},
    diskMb: 20_480,
    sessionDir: '/state/sessions/261121-140512-k7p',
    baseDir: '/cache/bases/0123456789abcdef',
    weakenings: [],
    ...parts,
  };
}

/** A whole record, as session.json holds it: the plan's id and project are the record's too. */
export function sessionRecord(
  parts: Partial<Omit<SessionRecord, 'plan' | 'id' | 'project'>> & { readonly plan?: PlanParts } = {},
): SessionRecord {
  const plan = planWith(parts.plan ?? {});
  const started = parts.started ?? '2026-11-21T14:05:12.000Z';
  const own = { version: 1, id: plan.sessionId, project: plan.project.root, stage: 'pending' } as const;
  return { ...own, started, updated: started, ...parts, plan };
}
