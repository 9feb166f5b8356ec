import { connectEngine, ownerOf } from '../engine/connect.ts';
import type { Engine } from '../types/engine.ts';
import type { Policy } from '../types/policy.ts';
import type { CommandContext } from './context.ts';

/** The engine of this person's choice, with what is ours in it told by our state directory. */
export async function connectOurs(
  choice: Policy['engine'],
  { env, places }: Pick<CommandContext, 'env' | 'places'>,
): Promise<Engine> {
  return connectEngine({
    choice,
    env,
    home: places.home,
    platform: process.platform,
    owner: ownerOf(places.stateDir),
  });
}
