import type { Tell } from '../types/event.ts';
import type { LockHolder } from '../types/lock-holder.ts';
import { openProgress } from './open-progress.ts';

/** Reports once whom this command waits for and why, and shows that it still waits until it is disposed. */
export function announceWait(tell: Tell): (holder: LockHolder) => Disposable {
  return ({ name, doing }) => {
    tell({ kind: 'message', level: 'info', text: `Waiting for ${name}: ${doing}` });
    return openProgress(tell, `Waiting for ${name}`);
  };
}
