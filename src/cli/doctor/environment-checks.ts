import type { Agent } from '../../agent/agent.ts';
import { addressImage } from '../../image/address.ts';
import type { Engine } from '../../types/engine.ts';
import type { CommandContext } from '../context/context.ts';
import { type EngineChoice, userNumbers } from '../context/open-engine.ts';
import { credentialCheck, imageCheck } from './agent-checks.ts';
import type { Check } from './check.ts';
import { checkConnection, engineChecks } from './engine-checks.ts';
import { gitCheck, hostChecks, sharingCheck } from './host-checks.ts';
import { strategyCheck } from './strategy-check.ts';

/** Every check of `doctor` for sessions with the agent, in the order of its output. */
export async function environmentChecks(
  context: CommandContext,
  choice: EngineChoice,
  agent: Agent,
): Promise<readonly Check[]> {
  const [{ engine, check }, git, credential] = await Promise.all([
    checkConnection(choice, context),
    gitCheck(),
    credentialCheck(context, agent),
  ]);
  try {
    const more = engine === undefined ? [] : await checksOf(engine, context, agent);
    return [...hostChecks(context), git, check, ...more, credential];
  } finally {
    await engine?.close();
  }
}

async function checksOf(engine: Engine, context: CommandContext, agent: Agent): Promise<readonly Check[]> {
  const image = addressImage(engine, { env: context.env, toolchain: false });
  return [
    ...engineChecks(engine.facts),
    sharingCheck(engine.facts, context.cwd),
    strategyCheck(engine, image, { ...userNumbers(context), stateDir: context.places.stateDir }),
    await imageCheck(engine, image, context.env, agent),
  ];
}
