import { connectEngine, ownerOf } from '../../engine/connect.ts';
import { makeOwnedDir } from '../../host/owned-dir.ts';
import type { Engine } from '../../types/engine.ts';
import type { Policy } from '../../types/policy.ts';
import type { CommandContext } from './context.ts';

/** What `--engine` of a command can be. */
export const ENGINES: readonly Policy['engine'][] = ['auto', 'docker', 'podman'];

/** What tells ours from others' in the engine. */
export function ownerHere({ places }: Pick<CommandContext, 'places'>): string {
  return ownerOf(places.stateDir);
}

/** The engine of this person's choice, with what is ours in it told by our state directory. */
export async function connectOurs(
  choice: Policy['engine'],
  context: Pick<CommandContext, 'env' | 'places'>,
): Promise<Engine> {
  const { env, places } = context;
  return connectEngine({
    choice,
    env,
    home: places.home,
    platform: process.platform,
    owner: ownerHere(context),
    makeDir: makeOwnedDir,
  });
}
