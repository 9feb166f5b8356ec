import {
  absolutePath,
  anyOf,
  type Check,
  fields,
  flag,
  listOf,
  mapOf,
  number,
  oneOf,
  optional,
  type RecordFormat,
  relPath,
  text,
  unchecked,
  variants,
} from '../store/parse-record.ts';
import { processIdentityCheck } from '../store/process-identity.ts';
import { AGENT_NAMES, type AgentName } from '../types/agent-package.ts';
import { CACHE_NAMES, type MadeCache } from '../types/cache.ts';
import type { ClaudeOutcome } from '../types/claude-data.ts';
import type { EngineFacts } from '../types/engine.ts';
import type { Environment, MadeEnvironment } from '../types/environment.ts';
import type { Severity } from '../types/finding.ts';
import type { OwnAgent, OwnPackage, OwnProvider } from '../types/own-agent.ts';
import type { AgentProgram, AlsoFolder, Plan, Program, ProjectFacts } from '../types/plan.ts';
import type { AllowRule, BrokerRule, McpProgram, McpServer, Policy, Service, UserRule } from '../types/policy.ts';
import type {
  ApplyOutcome,
  BoundGit,
  ChangeOutcome,
  ImportedFrom,
  MadeBranch,
  SessionRecord,
  UsageTotals,
} from '../types/session.ts';
import { STRATEGY_NAMES } from '../types/strategy.ts';

const texts = listOf(text);
const ownAgent = fields<OwnAgent>({
  name: text,
  title: text,
  program: texts,
  package: optional(fields<OwnPackage>({ name: text, integrity: text, entry: text })),
  copy: texts,
  instructions: optional(text),
  print: texts,
  skipPermissions: texts,
  env: mapOf(text),
  provider: optional(
    fields<OwnProvider>({ api: oneOf('anthropic', 'openai', 'gemini'), url: text, key: text, placeholder: text }),
  ),
});
const agentName = anyOf(oneOf<AgentName>(...AGENT_NAMES), ownAgent);
const severity: Check<Severity> = oneOf('blocked', 'suspect', 'note');

const project = fields<ProjectFacts>({
  root: absolutePath,
  inode: optional(text),
  startIn: text,
  git: oneOf('none', 'directory', 'file', 'subfolder'),
  gitCommonDir: optional(absolutePath),
  ownerUid: number,
  ownerGid: number,
});

const policy = fields<Policy>({
  mode: oneOf('copy', 'bind'),
  strategy: oneOf('auto', ...STRATEGY_NAMES),
  shallow: flag,
  repo: flag,
  autoApply: flag,
  allowSuspect: texts,
  yes: flag,
  failOn: optional(severity),
  newKinds: optional(oneOf('ask', 'note')),
  also: optional(texts),
  exclude: texts,
  include: texts,
  mask: texts,
  copyIgnored: optional(flag),
  includeIgnored: anyOf(flag, texts),
  tmpdir: optional(text),
  memoryMb: number,
  cpus: number,
  pids: number,
  tmpMb: number,
  diskMb: optional(number),
  timeoutMs: optional(number),
  idleTimeoutMs: optional(number),
  maxCostUsd: optional(number),
  maxRequests: optional(number),
  network: oneOf('gateway', 'none', 'open'),
  allowHosts: texts,
  allowAddresses: texts,
  networkPresets: texts,
  brokers: listOf(
    fields<BrokerRule>({ host: text, header: text, from: texts, methods: texts, requests: optional(texts) }),
  ),
  mcpServers: optional(
    listOf(
      fields<McpServer>({
        name: text,
        url: text,
        header: optional(text),
        from: optional(texts),
        oauth: optional(flag),
        tools: optional(texts),
      }),
    ),
  ),
  services: optional(
    listOf(
      fields<Service>({
        name: text,
        image: optional(text),
        packages: texts,
        command: texts,
        port: number,
        env: mapOf(text),
        ready: optional(text),
        readyMs: number,
        data: absolutePath,
        seed: optional(text),
        files: texts,
        reaches: texts,
        memoryMb: number,
        diskMb: number,
      }),
    ),
  ),
  mcpPrograms: optional(
    listOf(
      fields<McpProgram>({
        name: text,
        command: texts,
        directory: optional(absolutePath),
        env: mapOf(text),
        secrets: mapOf(texts),
        hosts: texts,
        tools: optional(texts),
      }),
    ),
  ),
  allowRequests: optional(listOf(fields<AllowRule>({ host: text, requests: texts }))),
  ports: optional(texts),
  allowLocal: optional(texts),
  credentials: oneOf('broker', 'file', 'none'),
  freshCreds: flag,
  env: mapOf(text),
  envFiles: optional(texts),
  envFileNames: optional(texts),
  with: optional(texts),
  caches: optional(listOf(oneOf(...CACHE_NAMES))),
  approved: optional(texts),
  environment: optional(
    fields<Environment>({ packages: texts, setup: optional(text), env: mapOf(text), files: texts }),
  ),
  allowGitPush: flag,
  permissions: oneOf('skip', 'ask'),
  on: optional(text),
  engine: oneOf('auto', 'docker', 'podman'),
  runtime: optional(text),
  agent: optional(text),
  gpu: optional(flag),
  image: optional(text),
  toolchain: flag,
  claudeVersion: optional(text),
  rebuild: flag,
  isolateClaudeData: flag,
  syncBack: flag,
  profile: optional(text),
  verify: flag,
  report: optional(text),
  quiet: flag,
  trace: flag,
  auditRules: listOf(fields<UserRule>({ id: text, paths: texts, severity, why: text })),
  auditSeverities: mapOf(severity),
});

const engine = fields<EngineFacts>({
  on: optional(text),
  id: optional(text),
  kind: oneOf('docker', 'podman'),
  name: text,
  version: text,
  apiVersion: text,
  endpoint: text,
  os: text,
  arch: text,
  kernel: text,
  local: flag,
  rootless: flag,
  usernsRemap: flag,
  hasOneUser: optional(oneOf(true)),
  mountsAnew: optional(oneOf(true)),
  joinsVolumes: optional(oneOf(false)),
  keepsOutput: optional(oneOf(true)),
  cgroupVersion: oneOf(1, 2),
  seccomp: flag,
  memoryLimit: flag,
  swapLimit: flag,
  pidsLimit: flag,
  cpuLimit: flag,
  runtimes: texts,
  gpus: optional(flag),
  processors: optional(number),
  memoryMb: optional(number),
  dataRoot: text,
});

const agentProgram = (kind: AgentName): Check<AgentProgram> =>
  fields<Exclude<AgentProgram, { kind: 'own' }>>({ kind: oneOf(kind), args: texts, print: flag });

const program = variants<Program>('kind', {
  claude: agentProgram('claude'),
  codex: agentProgram('codex'),
  gemini: agentProgram('gemini'),
  opencode: agentProgram('opencode'),
  copilot: agentProgram('copilot'),
  own: fields<Extract<AgentProgram, { kind: 'own' }>>({
    kind: oneOf('own'),
    agent: ownAgent,
    args: texts,
    print: flag,
  }),
  shell: fields<Extract<Program, { kind: 'shell' }>>({ kind: oneOf('shell'), args: texts, agent: optional(agentName) }),
  exec: fields<Extract<Program, { kind: 'exec' }>>({ kind: oneOf('exec'), argv: texts, agent: optional(agentName) }),
  kept: fields<Extract<Program, { kind: 'kept' }>>({ kind: oneOf('kept'), agent: optional(agentName) }),
});

const plan = fields<Plan>({
  sessionId: text,
  mode: oneOf('copy', 'bind'),
  project,
  policy,
  engine,
  image: text,
  ownImage: optional(text),
  claudeVersion: optional(text),
  program,
  tty: flag,
  strategy: oneOf('bind', ...STRATEGY_NAMES),
  strategyReason: text,
  user: text,
  env: mapOf(text),
  diskMb: number,
  environment: optional(fields<MadeEnvironment>({ address: text, dir: absolutePath })),
  caches: optional(listOf(fields<MadeCache>({ ecosystem: oneOf(...CACHE_NAMES), address: text, dir: absolutePath }))),
  sessionDir: absolutePath,
  baseDir: absolutePath,
  weakenings: texts,
  also: optional(listOf(fields<AlsoFolder>({ name: text, isReadonly: flag, project, sessionId: text }))),
  besideSession: optional(text),
  task: optional(text),
});

const outcome = fields<ApplyOutcome>({
  changes: listOf(
    fields<ChangeOutcome>({
      path: relPath,
      verdict: oneOf('applied', 'same', 'conflict', 'blocked', 'suspect', 'withheld', 'skipped', 'failed'),
      why: optional(text),
    }),
  ),
  claude: optional(
    listOf(
      fields<ClaudeOutcome>({
        path: text,
        verdict: oneOf('applied', 'same', 'conflict', 'suspect', 'blocked'),
      }),
    ),
  ),
  at: text,
});

/** session.json. The values of its plan decide what later commands mount, write to and remove. */
export const SESSION_FORMAT: RecordFormat<SessionRecord> = {
  name: 'session record',
  version: 1,
  check: fields<SessionRecord>({
    version: oneOf(1),
    id: text,
    project: text,
    stage: oneOf('planned', 'running', 'ended', 'pending', 'applied', 'discarded', 'failed'),
    started: text,
    updated: text,
    plan,
    owner: optional(processIdentityCheck),
    agentStarted: optional(text),
    agentMs: optional(number),
    agentStatus: optional(number),
    stoppedBecause: optional(text),
    outcome: optional(outcome),
    note: optional(text),
    // The workspace room checks it when it reopens the layer.
    workspace: unchecked,
    usage: optional(
      fields<UsageTotals>({ requests: number, inputTokens: number, outputTokens: number, costUsd: number }),
    ),
    bound: optional(fields<BoundGit>({ objects: texts, refs: text, commits: optional(flag) })),
    imported: optional(fields<ImportedFrom>({ session: text, tool: text, exported: text })),
    branches: optional(listOf(fields<MadeBranch>({ name: text, commit: text, at: text, pushedTo: optional(text) }))),
  }),
  hint: "The session's other files are unchanged beside it. To give the session up, remove that directory.",
};
