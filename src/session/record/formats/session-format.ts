import { changeOutcome, testFields } from '../../../core/store/outcome-checks.ts';
import {
  absolutePath,
  anyOf,
  fields,
  flag,
  listOf,
  mapOf,
  number,
  oneOf,
  optional,
  type RecordFormat,
  text,
  unchecked,
  variants,
} from '../../../core/store/parse-record.ts';
import { processIdentityCheck } from '../../../core/store/process-identity.ts';
import { AGENT_NAMES, type AgentName } from '../../../core/types/agent/agent-package.ts';
import type { ClaudeOutcome } from '../../../core/types/agent/claude-data.ts';
import type { EngineFacts } from '../../../core/types/engine.ts';
import type { AgentProgram, AlsoFolder, Plan, Program, ProjectFacts } from '../../../core/types/plan.ts';
import type {
  ApplyOutcome,
  BoundGit,
  ImportedFrom,
  MadeBranch,
  MadeCommits,
  SessionRecord,
  StartFailure,
  UsageTotals,
} from '../../../core/types/session.ts';
import { CACHE_NAMES, type MadeCache } from '../../../core/types/setup/cache.ts';
import type { MadeEnvironment } from '../../../core/types/setup/environment.ts';
import { STRATEGY_NAMES } from '../../../core/types/strategy.ts';
import type { TestResult } from '../../../core/types/test.ts';
import { ownAgent, policy, texts } from './policy-format.ts';

const agentName = anyOf(oneOf<AgentName>(...AGENT_NAMES), ownAgent);

const project = fields<ProjectFacts>({
  root: absolutePath,
  inode: optional(text),
  startIn: text,
  git: oneOf('none', 'directory', 'file', 'subfolder'),
  gitCommonDir: optional(absolutePath),
  pathFolders: optional(texts),
  ownerUid: number,
  ownerGid: number,
});

const engine = fields<EngineFacts>({
  on: optional(text),
  id: optional(text),
  kind: oneOf('docker', 'podman', 'slurm', 'kubernetes'),
  form: optional(oneOf('pod', 'pods')),
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

/** One for each agent, so that a session of a new agent can be read. */
const agentPrograms = Object.fromEntries(
  AGENT_NAMES.map((kind) => [
    kind,
    fields<Exclude<AgentProgram, { kind: 'own' }>>({ kind: oneOf(kind), args: texts, print: flag }),
  ]),
);

const program = variants<Program>('kind', {
  ...agentPrograms,
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
  umask: optional(number),
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
  changes: listOf(changeOutcome),
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
    failure: optional(fields<StartFailure>({ code: text, message: text, hint: optional(text) })),
    outcome: optional(outcome),
    note: optional(text),
    // The workspace room checks it when it reopens the layer.
    workspace: unchecked,
    usage: optional(
      fields<UsageTotals>({ requests: number, inputTokens: number, outputTokens: number, costUsd: number }),
    ),
    bound: optional(fields<BoundGit>({ objects: texts, refs: text, commits: optional(flag) })),
    imported: optional(fields<ImportedFrom>({ session: text, tool: text, exported: text })),
    commits: optional(
      listOf(
        fields<MadeCommits>({
          repository: text,
          count: number,
          titles: texts,
          taken: optional(oneOf('imported', 'refused')),
        }),
      ),
    ),
    tests: optional(listOf(fields<TestResult>(testFields))),
    branches: optional(listOf(fields<MadeBranch>({ name: text, commit: text, at: text, pushedTo: optional(text) }))),
  }),
  hint: "The session's other files are unchanged next to it. To give the session up, remove that directory.",
};
