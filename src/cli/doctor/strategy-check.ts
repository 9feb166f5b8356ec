import { DEFAULTS } from '../../config/settings.ts';
import { knownTrial } from '../../layer/try-layers.ts';
import { chooseStrategy, storageOf } from '../../plan/strategy.ts';
import { chooseUser, type UserNumbers } from '../../plan/user.ts';
import type { Engine } from '../../types/engine.ts';
import type { HostFacts } from '../../types/plan.ts';
import { STRATEGIES } from '../../types/strategy.ts';
import { type Check, ok, warning } from './check.ts';

/** The strategy of a copy on this machine. Starts nothing: an earlier session found out whether layers work. */
export function strategyCheck(engine: Engine, image: string, host: UserNumbers & Pick<HostFacts, 'stateDir'>): Check {
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
