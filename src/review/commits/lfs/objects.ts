import path from 'node:path';
import type { LfsPointer } from '../../../core/git/lfs-pointer.ts';
import type { InsideRequest } from '../bundles/run-inside.ts';
import type { ReceivedCommits } from '../import-commits.ts';
import type { Repository } from '../repositories.ts';
import { newPointers } from './pointers.ts';
import { ObjectReceiver } from './receive-objects.ts';
import { MAX_LFS_BYTES, sendLfsObjects } from './send-objects.ts';
import { addLfsObject, lfsObjectIn, lfsStore } from './store.ts';

/** The Git LFS objects that received commits need. */
export interface LfsObjects {
  /** Pointers that the user's repository lacks, by git's object id. */
  readonly pointers: ReadonlyMap<string, LfsPointer>;
  /** The file with an object's content, here or received; undefined where nobody has it. */
  file(pointer: LfsPointer): string | undefined;
  /** Copies what was received into the user's store; only what is needed is copied. */
  import(): void;
}

/** Without any pointer. */
export const NO_LFS: LfsObjects = { pointers: new Map(), file: () => undefined, import: () => undefined };

/**
 * Receives the objects that new pointers name and the user's store lacks, into the temporary repository. What the session
 * does not have, has with another SHA-256, or is beyond MAX_LFS_BYTES, is missing afterwards.
 *
 * @throws {RunClaudeError} COMMITS_REFUSED, what sendLfsObjects throws; errors of the disk.
 */
export async function receiveLfsObjects(
  request: InsideRequest,
  repository: Repository,
  received: ReceivedCommits,
  env: NodeJS.ProcessEnv,
): Promise<LfsObjects> {
  const pointers = newPointers(received);
  if (pointers.size === 0) return NO_LFS;
  const own = await lfsStore(repository.place, env);
  const temporary = path.join(received.repository, 'lfs');
  const wanted = new Map<string, LfsPointer>();
  let room = MAX_LFS_BYTES;
  for (const pointer of pointers.values()) {
    // A pointer may name any size. What does not fit is missing.
    if (pointer.size > room || wanted.has(pointer.oid) || lfsObjectIn(own, pointer) !== undefined) continue;
    room -= pointer.size;
    wanted.set(pointer.oid, pointer);
  }
  if (wanted.size > 0) {
    const receiver = new ObjectReceiver([...wanted.values()], temporary);
    try {
      await sendLfsObjects(request, repository, [...wanted.values()], (chunk) => receiver.take(chunk));
    } finally {
      receiver.end();
    }
  }
  return {
    pointers,
    file: (pointer) => lfsObjectIn(own, pointer) ?? lfsObjectIn(temporary, pointer),
    import: () => {
      for (const pointer of wanted.values()) {
        const file = lfsObjectIn(temporary, pointer);
        if (file !== undefined) addLfsObject(own, pointer, file);
      }
    },
  };
}
