import { RunClaudeError } from '../errors.ts';
import type { EngineFacts } from '../types/engine.ts';
import type { Plan } from '../types/plan.ts';
import type { Policy } from '../types/policy.ts';

/** What trying an overlay volume from the real state directory gave. */
export interface StrategyTrial {
  readonly works: boolean;
  /** In the person's words, when it does not work. */
  readonly why: string;
}

export interface ChosenStrategy {
  readonly strategy: Plan['strategy'];
  readonly reason: string;
}

/** The way the workspace is held: as asked for, otherwise by what the engine and the trial allow. */
export function chooseStrategy(policy: Policy, engine: EngineFacts, trial: StrategyTrial | undefined): ChosenStrategy {
  if (policy.mode === 'bind') {
    if (isRemote(engine)) {
      throw new RunClaudeError('BIND_REMOTE', "bind mode needs an engine that sees this machine's files", {
        hint: 'Use --copy-workspace.',
      });
    }
    if (engine.usernsRemap) {
      throw new RunClaudeError('BIND_REMAPPED', 'bind mode does not work where the engine remaps users', {
        hint: 'Use --copy-workspace.',
      });
    }
    return { strategy: 'bind', reason: 'bind mode' };
  }
  const elsewhere = !engine.local || engine.usernsRemap;
  if (policy.strategy !== 'auto') {
    if (policy.strategy !== 'volume' && elsewhere) {
      throw strategyRefused(
        policy.strategy,
        engine.usernsRemap ? 'the engine remaps users' : 'the engine is elsewhere',
      );
    }
    if ((policy.strategy === 'layers' || policy.strategy === 'overlay') && trial?.works === false) {
      throw strategyRefused(policy.strategy, trial.why);
    }
    return { strategy: policy.strategy, reason: 'asked for' };
  }
  if (!engine.local) return { strategy: 'volume', reason: 'the engine does not run on this kernel' };
  if (engine.usernsRemap) return { strategy: 'volume', reason: 'the engine remaps users' };
  if (trial === undefined) return { strategy: 'layers', reason: 'the first session tests whether it works' };
  return trial.works
    ? { strategy: 'layers', reason: 'overlay volumes work here' }
    : { strategy: 'copy', reason: trial.why };
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
