import path from 'node:path';
import { openPlace, type Place } from '../engine/place.ts';
import type { Engine } from '../types/engine.ts';
import type { Plan } from '../types/plan.ts';
import type { ReaderRoot } from '../workspace/workspace.ts';

const INSIDE = '/home/agent';

/** The home of a session's agent: made empty, or the one that is there. */
export function openHome(engine: Engine, plan: Plan): Promise<Place> {
  const [uid = 0, gid = 0] = plan.user.split(':').map(Number);
  return openPlace(engine, {
    name: `run-claude-${plan.sessionId}-home`,
    dir: path.join(plan.sessionDir, 'home'),
    owner: { uid, gid },
    image: plan.image,
    sessionId: plan.sessionId,
  });
}

/** For the session's collector, which reads it after the agent's end. */
export function homeRoot(home: Place): ReaderRoot {
  return { name: 'home', mount: home.mount(INSIDE, true) };
}
