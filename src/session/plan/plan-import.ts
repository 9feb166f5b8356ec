import type { EngineFacts } from '../../core/types/engine.ts';
import type { HostFacts, Plan, ProjectFacts } from '../../core/types/plan.ts';
import type { Policy } from '../../core/types/policy.ts';
import { STRATEGIES, STRATEGY_NAMES, type StrategyName } from '../../core/types/strategy.ts';
import { baseDirOf } from './plan-run.ts';
import { refuseProject } from './refuse-project.ts';

/** An imported session has no container: nothing of this is asked for. */
const NO_ENGINE: EngineFacts = {
  kind: 'docker',
  name: 'none',
  version: '',
  apiVersion: '',
  endpoint: '',
  os: '',
  arch: '',
  kernel: '',
  local: true,
  rootless: false,
  usernsRemap: false,
  cgroupVersion: 2,
  seccomp: false,
  memoryLimit: false,
  swapLimit: false,
  pidsLimit: false,
  cpuLimit: false,
  runtimes: [],
  dataRoot: '',
};

/** One that keeps nothing on an engine: there is no layer, and nothing to remove. */
const STRATEGY = STRATEGY_NAMES.find((name) => {
  const { storage, needsOverlayTrial } = STRATEGIES[name];
  return storage === 'host' && !needsOverlayTrial;
}) as StrategyName;

export interface ImportPlanInput {
  readonly sessionId: string;
  readonly policy: Policy;
  readonly host: HostFacts;
  readonly project: ProjectFacts;
}

/**
 * The plan of a session that was imported: a copy session of the importer's project, without a container or layer. Pure.
 *
 * @throws {RunClaudeError} USAGE for a project that no session may have.
 */
export function planImport({ sessionId, policy, host, project }: ImportPlanInput): Plan {
  refuseProject(project.root, host);
  return {
    sessionId,
    mode: 'copy',
    project,
    policy: { ...policy, mode: 'copy', env: {} },
    engine: NO_ENGINE,
    image: '',
    claudeVersion: undefined,
    program: { kind: 'exec', argv: ['run-claude', 'import'] },
    tty: false,
    strategy: STRATEGY,
    strategyReason: 'imported: it has no layer',
    user: `${host.uid}:${host.gid}`,
    env: {},
    diskMb: 0,
    sessionDir: `${host.stateDir}/sessions/${sessionId}`,
    baseDir: baseDirOf(host, project, policy),
    weakenings: [],
  };
}
