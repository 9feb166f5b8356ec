import { COPY_MODE, RunClaudeError } from '../../core/errors.ts';
import type { EngineFacts } from '../../core/types/engine.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { Policy } from '../../core/types/policy.ts';
import { STRATEGIES, STRATEGY_NAMES, type StrategyFacts, type StrategyName } from '../../core/types/strategy.ts';
import { placeOf } from '../../engines/capabilities/columns.ts';
import { supports } from '../../engines/capabilities/table.ts';

/** Result of trying an overlay volume in the real state directory. */
export interface StrategyTrial {
  readonly works: boolean;
  /** For the user: why the overlay volume does not work. */
  readonly why: string;
}

export interface ChosenStrategy {
  readonly strategy: Plan['strategy'];
  readonly reason: string;
}

/** How the workspace is stored: as the user chose, otherwise by what the engine and the trial allow. */
export function chooseStrategy(policy: Policy, engine: EngineFacts, trial: StrategyTrial | undefined): ChosenStrategy {
  if (policy.mode === 'bind') {
    if (isRemote(engine)) {
      throw new RunClaudeError('BIND_REMOTE', "bind mode needs an engine that sees this machine's files", {
        hint: `Use ${COPY_MODE}.`,
      });
    }
    if (engine.usernsRemap) {
      throw new RunClaudeError('BIND_REMAPPED', 'bind mode does not work where the engine remaps users', {
        hint: `Use ${COPY_MODE}.`,
      });
    }
    return { strategy: 'bind', reason: 'bind mode' };
  }
  if (policy.strategy !== 'auto') {
    const why = whyUnusable(policy.strategy, engine, trial);
    if (why !== undefined) throw strategyRefused(policy.strategy, why);
    return { strategy: policy.strategy, reason: 'asked for' };
  }
  const preferred = STRATEGY_NAMES[0] as StrategyName;
  const strategy = STRATEGY_NAMES.find((name) => whyUnusable(name, engine, trial) === undefined) ?? preferred;
  const passedOver = whyUnusable(preferred, engine, trial);
  const untried = trial === undefined ? 'the first session tests whether it works' : 'overlay volumes work here';
  return { strategy, reason: passedOver ?? untried };
}

/** Why a strategy does not work on that engine; undefined where it does, or where a trial has to tell. */
function whyUnusable(name: StrategyName, engine: EngineFacts, trial: StrategyTrial | undefined): string | undefined {
  const { storage, needsOverlayTrial, copiesProject } = STRATEGIES[name];
  if (storage === 'engine')
    return !copiesProject && !supports(placeOf(engine).column, 'joined-volumes')
      ? 'the engine does not join volumes'
      : undefined;
  if (!engine.local) return 'the engine does not run on this kernel';
  if (engine.usernsRemap) return 'the engine remaps users';
  return needsOverlayTrial && trial?.works === false ? trial.why : undefined;
}

/** Where the files are that the agent works on: in the project itself, in our directories, or in the engine's volumes. */
export function storageOf(strategy: Plan['strategy']): 'project' | StrategyFacts['storage'] {
  return strategy === 'bind' ? 'project' : STRATEGIES[strategy].storage;
}

/** Whether a strategy that was chosen without a trial depends on what the trial of an overlay volume finds. */
export function needsTrial(strategy: Plan['strategy']): boolean {
  return strategy !== 'bind' && STRATEGIES[strategy].needsOverlayTrial;
}

/** Reached over a network: its paths are not this machine's. */
function isRemote(engine: EngineFacts): boolean {
  return /^(ssh|tcp|https?):/.test(engine.endpoint);
}

function strategyRefused(strategy: string, why: string): RunClaudeError {
  return new RunClaudeError('STRATEGY_UNUSABLE', `strategy '${strategy}' does not work here: ${why}`, {
    hint: 'Leave it out: --copy-workspace picks one that works.',
  });
}
