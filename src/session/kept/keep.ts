import { formatDurationMs } from '../../core/config/values/quantities.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import { requestStop } from '../record/events/stop-request.ts';
import type { SessionDoor } from '../stage/deps.ts';
import { openDoor } from './door.ts';
import { removePlace, writePlace } from './place.ts';
import { startRunner } from './runner.ts';

/** Of records without the setting. */
const IDLE_MS = 12 * 3_600_000;

/** The door of a kept session, for the process that runs it. `onOpen` is called once commands can be run. */
export function keptDoor(engine: Runtime, plan: Plan, onOpen: () => void): SessionDoor {
  const afterMs = plan.policy.idleTimeoutMs ?? IDLE_MS;
  let opened: ReturnType<typeof openDoor> | undefined;
  let isClosed = false;
  return {
    async open() {
      // Of an earlier run of this session.
      removePlace(plan.sessionDir);
      opened = openDoor({
        startRunner: (onFrame) => startRunner(engine, plan, onFrame),
        idle: {
          afterMs,
          onIdle() {
            requestStop(plan.sessionDir, `no command for ${formatDurationMs(afterMs)}`);
            process.kill(process.pid, 'SIGTERM');
          },
        },
      });
      const door = await opened;
      await door.warmUp();
      if (isClosed) return;
      writePlace(plan.sessionDir, door.socket);
      onOpen();
    },
    async close() {
      isClosed = true;
      removePlace(plan.sessionDir);
      // What kept it from opening was thrown there.
      await (await opened?.catch(() => undefined))?.close();
    },
  };
}
