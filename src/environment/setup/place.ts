import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { RunClaudeError } from '../../core/errors.ts';
import { parseUser } from '../../core/host/user.ts';
import type { EngineFacts, Mount } from '../../core/types/engine.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import type { MadeEnvironment } from '../../core/types/setup/environment.ts';
import { type PlaceOptions, placeMount } from '../../engines/engine/place.ts';

/** What a setup makes: in the agent's home, and in the project. No session writes to either. */
export type EnvironmentPart = 'home' | 'workspace';

/** The label of an environment's volumes. */
export function environmentLabel(address: string): string {
  return `env-${address}`;
}

/** Where one part of an environment is kept: a directory of this machine, or a volume of the engine. */
export function partOptions(
  { address, dir }: MadeEnvironment,
  part: EnvironmentPart,
  { user, image, sessionId }: Pick<Plan, 'user' | 'image' | 'sessionId'>,
): PlaceOptions {
  const { uid, gid } = parseUser(user);
  return {
    name: `run-claude-env-${address}-${part}`,
    dir: join(dir, part),
    owner: { uid, gid },
    image,
    sessionId,
    label: environmentLabel(address),
  };
}

type Session = Pick<Plan, 'user' | 'image' | 'sessionId'>;

/** The read-only mount of a part. */
export function partMount(
  facts: EngineFacts,
  environment: MadeEnvironment,
  part: EnvironmentPart,
  session: Session,
  target: string,
): Mount {
  return placeMount(facts, partOptions(environment, part, session), target, true);
}

/**
 * The directory of a part on the engine's machine, for an overlay.
 *
 * @throws {RunClaudeError} ENVIRONMENT_MISSING when the directory, or the engine's volume, no longer exists.
 */
export async function partDirectory(
  engine: Runtime,
  environment: MadeEnvironment,
  part: EnvironmentPart,
  session: Session,
): Promise<string> {
  const mount = partMount(engine.facts, environment, part, session, '/');
  if (mount.kind === 'bind' && lstatSync(mount.source, { throwIfNoEntry: false })?.isDirectory() === true)
    return mount.source;
  const found = mount.kind === 'volume' ? await engine.findVolume(mount.volume) : undefined;
  if (found !== undefined) return found.mountpoint;
  throw new RunClaudeError('ENVIRONMENT_MISSING', 'what the setup of this session made no longer exists', {
    hint: 'Review the changes of this session with run-claude diff, then start a new one.',
  });
}
