import path from 'node:path';
import { parseUser } from '../../../core/host/user.ts';
import type { Mount } from '../../../core/types/engine.ts';
import type { Plan } from '../../../core/types/plan.ts';
import type { Runtime } from '../../../core/types/runtime.ts';
import { openPlace, type Place, type PlaceOptions, placeMount } from '../../../engines/engine/place.ts';
import type { ReaderRoot } from '../../../workspace/collector/container.ts';
import { keepVolume } from './keep-home.ts';

const INSIDE = '/home/agent';

/**
 * The home of a session's agent: made empty, or the one that is there. With `--tmpdir` it is in that directory and stays
 * there; where the engine stores it in a volume, `home.tar` in that directory is written when it is removed. Throws as
 * openPlace does; remove() throws as keepVolume does.
 */
export async function openHome(engine: Runtime, plan: Plan): Promise<Place> {
  const place = await openPlace(engine, homePlace(plan));
  const kept = keptStaging(plan);
  if (kept === undefined) return place;
  if (place.kind === 'directory') return { ...place, remove: async () => undefined };
  return {
    ...place,
    async remove() {
      await keepVolume(engine, plan, place.mount, path.join(kept, 'home.tar'));
      await place.remove();
    },
  };
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
    image: plan.ownImage ?? plan.image,
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
