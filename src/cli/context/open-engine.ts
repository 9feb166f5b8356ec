import { connectEngine, ownerOf } from '../../engine/connect.ts';
import { makeOwnedDir } from '../../host/owned-dir.ts';
import { chooseUser } from '../../plan/user.ts';
import type { Engine } from '../../types/engine.ts';
import type { Policy } from '../../types/policy.ts';
import type { CommandContext } from './context.ts';

/** The values of `--engine`. */
export const ENGINES: readonly Policy['engine'][] = ['auto', 'docker', 'podman'];

/** The label value of what run-claude makes on an engine: one for each state directory. */
export function ownerHere({ places }: Pick<CommandContext, 'places'>): string {
  return ownerOf(places.stateDir);
}

/**
 * Connects the engine of the user's choice. The objects on it that belong to this state directory are run-claude's.
 *
 * @throws {RunClaudeError} as connectEngine
 */
export async function openEngine(
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

/** The uid:gid inside a container that has no project. */
export function userAlone({ facts }: Pick<Engine, 'facts'>): string {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  return chooseUser('host', facts, { uid, gid }, { ownerUid: uid, ownerGid: gid }).user;
}
