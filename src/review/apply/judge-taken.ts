import { MAX_IN_MEMORY_BYTES } from '../../core/text/in-memory.ts';
import type { Decided, Preparing } from './apply-request.ts';
import { freezeNewBytes } from './entries/new-bytes.ts';
import { left, type StepOrOutcome } from './make-step.ts';
import { readWhole } from './merge/merge-file.ts';

/** Whether the host has what the session began with, or something else that the user gives up. */
export type Taken = 'unopposed' | "over the host's";

/**
 * Why the session's bytes are held back, where they were judged under another condition than they get here: the host's file
 * is not what the engine says the session began with, or the host alone made it executable. They are judged again next to the
 * host's file. Undefined: nothing holds them back.
 */
export async function judgeTaken(
  { one, session, host }: Decided,
  mode: number,
  { request, trusted, walker }: Preparing,
  taken: Taken,
): Promise<StepOrOutcome | undefined> {
  if (trusted || session?.kind !== 'file' || session.digest === undefined) return undefined;
  const canRunHere = host !== undefined && (mode & 0o111 & ~session.mode) !== 0;
  if (taken === 'unopposed' && !canRunHere) return undefined;
  const mine = host?.kind === 'file' ? host : undefined;
  if (Math.max(session.size, mine?.size ?? 0) > MAX_IN_MEMORY_BYTES) {
    const why = canRunHere ? 'it can be run here' : "it is taken over the host's";
    return one.suspect ? undefined : left(one, 'suspect', `${why}, and is too large to be judged again`);
  }
  const made = {
    what: canRunHere ? 'the file, which can be run here' : "the file, next to the host's",
    before: mine && { entry: mine, content: readWhole(walker, one.change.path) },
    after: { ...session, mode },
    content: await request.store.read(session.digest),
  };
  const frozen = await freezeNewBytes(one, made, request);
  return 'verdict' in frozen ? left(one, frozen.verdict, frozen.why) : undefined;
}
