import path from 'node:path';
import type { ReaderRoot } from '../../collector/container.ts';
import { openPlace, type Place, type PlaceOptions, placeMount } from '../../engine/place.ts';
import { RunClaudeError } from '../../errors.ts';
import { parseUser } from '../../host/user.ts';
import type { Engine, Mount } from '../../types/engine.ts';
import type { Plan } from '../../types/plan.ts';

const INSIDE = '/home/agent';

/**
 * The home of a session's agent: made empty, or the one that exists. With `--tmpdir` it is made there, and kept.
 *
 * @throws {RunClaudeError} TMPDIR_ELSEWHERE where the engine keeps homes in volumes and `--tmpdir` is set; what openPlace
 * throws.
 */
export async function openHome(engine: Engine, plan: Plan): Promise<Place> {
  const place = await openPlace(engine, homePlace(plan));
  if (keptStaging(plan) === undefined) return place;
  if (place.kind === 'directory') return { ...place, remove: async () => undefined };
  await place.remove();
  throw new RunClaudeError(
    'TMPDIR_ELSEWHERE',
    '--tmpdir does not work with this engine, which keeps staged files in a volume',
    {
      hint: 'Start without --tmpdir.',
    },
  );
}

/** The mount of the home in a session that is not started. */
export function plannedHomeMount(plan: Plan): Mount {
  return placeMount(plan.engine, homePlace(plan), INSIDE, false);
}

function homePlace(plan: Plan): PlaceOptions {
  const { uid, gid } = parseUser(plan.user);
  return {
    name: `run-claude-${plan.sessionId}-home`,
    dir: path.join(keptStaging(plan) ?? plan.sessionDir, 'home'),
    owner: { uid, gid },
    image: plan.image,
    sessionId: plan.sessionId,
  };
}

/** The directory in which `--tmpdir` keeps what this run stages; undefined without that option. */
export function keptStaging({ policy, sessionId }: Plan): string | undefined {
  return policy.tmpdir === undefined ? undefined : path.join(policy.tmpdir, `run-claude-${sessionId}`);
}

/** The home as a root of the session's collector, which reads it after the agent's end. */
export function homeRoot(home: Place): ReaderRoot {
  return { name: 'home', mount: home.mount(INSIDE, true) };
}
