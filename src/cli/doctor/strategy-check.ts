import { DEFAULTS } from '../../core/config/settings.ts';
import type { HostFacts } from '../../core/types/plan.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import { STRATEGIES } from '../../core/types/strategy.ts';
import { chooseStrategy, storageOf } from '../../session/plan/strategy.ts';
import { chooseUser, type UserNumbers } from '../../session/plan/user.ts';
import { knownTrial } from '../../workspace/layer/try-layers.ts';
import { type Check, ok, warning } from './check.ts';

/** The strategy of a copy on this machine. Starts nothing: an earlier session found out whether layers work. */
export function strategyCheck(engine: Runtime, image: string, host: UserNumbers & Pick<HostFacts, 'stateDir'>): Check {
  const policy = { ...DEFAULTS, mode: 'copy' } as const;
  const untried = chooseStrategy(policy, engine.facts, undefined);
  const owner = { ownerUid: host.uid, ownerGid: host.gid };
  const { user } = chooseUser(storageOf(untried.strategy), engine.facts, host, owner);
  const trial = knownTrial({ engine, stateDir: host.stateDir, image, user });
  const { strategy, reason } = chooseStrategy(policy, engine.facts, trial);
  const text = `${strategy}: ${reason}`;
  return strategy !== 'bind' && STRATEGIES[strategy].copiesProject
    ? warning(
        'strategy',
        text,
        'Every session copies the whole project. Setting XDG_STATE_HOME to another disk may help.',
      )
    : ok('strategy', text);
}
