import type { Agent } from '../../agents/agent.ts';
import type { Policy } from '../../core/types/policy.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import { addressImage } from '../../environment/image/address.ts';
import type { CommandContext } from '../context/context.ts';
import { type EngineChoice, userNumbers } from '../engines/open-engine.ts';
import { accessoryChecks, type UserAccessories } from './accessory-checks.ts';
import { credentialCheck, imageCheck } from './agent-checks.ts';
import type { Check } from './check.ts';
import { checkConnection, engineChecks } from './engine-checks.ts';
import { gitCheck, hostChecks, sharingCheck, wayOutChecks } from './host-checks.ts';
import { strategyCheck } from './strategy-check.ts';

export interface CheckedSetup {
  readonly choice: EngineChoice;
  readonly agent: Agent;
  readonly accessories: UserAccessories;
  /** Of the session; undefined: any. */
  readonly network?: Policy['network'];
  /** Folders that the session's agent would write to. */
  readonly roots: readonly string[];
}

/** Every check of `doctor` for sessions with the agent, in the order of its output. */
export async function environmentChecks(
  context: CommandContext,
  { choice, agent, accessories, network = 'gateway', roots }: CheckedSetup,
): Promise<readonly Check[]> {
  const [{ engine, check }, git, credential] = await Promise.all([
    checkConnection(choice, context),
    gitCheck(),
    credentialCheck(context, agent),
  ]);
  try {
    const more = engine === undefined ? [] : await checksOf(engine, context, agent);
    const place = { roots, isLocal: engine?.facts.local ?? true };
    const unusable = await accessoryChecks(accessories, place, context.places.dataDir);
    const wayOut = network === 'gateway' ? wayOutChecks(context.env) : [];
    return [...hostChecks(context), git, check, ...more, ...wayOut, credential, ...unusable];
  } finally {
    await engine?.close();
  }
}

async function checksOf(engine: Runtime, context: CommandContext, agent: Agent): Promise<readonly Check[]> {
  const image = addressImage(engine, { env: context.env, toolchain: false });
  return [
    ...engineChecks(engine.facts),
    sharingCheck(engine.facts, context.cwd),
    strategyCheck(engine, image, { ...userNumbers(context), stateDir: context.places.stateDir }),
    await imageCheck(engine, image, context.env, agent),
  ];
}
