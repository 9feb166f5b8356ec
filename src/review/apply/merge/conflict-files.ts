import { MAX_IN_MEMORY_BYTES } from '../../../core/text/in-memory.ts';
import type { RelPath } from '../../../core/text/path.ts';
import type { Digest, Entry } from '../../../core/types/entry.ts';
import type { ChosenChange } from '../../../core/types/review.ts';
import type { ChangeOutcome } from '../../../core/types/session.ts';
import type { ApplyRequest } from '../apply-request.ts';
import { fingerprintHost } from '../disk/host/host-entry.ts';
import type { HostWalker } from '../disk/host/host-path.ts';
import { isOnePath, reasonOf } from '../disk/steps/step-failure.ts';
import type { Step } from '../disk/steps/steps.ts';

interface ConflictFiles {
  readonly request: ApplyRequest;
  readonly outcomes: ChangeOutcome[];
  readonly walker: HostWalker;
  /** Whether the session's version of a conflict at this path is to be written next to the host's. */
  readonly isChosen: (path: string) => boolean;
  /** Of a file of a thing in several files: where the session's version is written. */
  readonly things: { conflictFileOf(path: string): string | undefined };
}

/**
 * `--conflict=file`: the session's version of each conflicting file, next to the host's as `NAME.session`, or with
 * `.session` after the name of its thing in several files; only where
 * that name is free, and where the audit lets it pass under that name. The conflict itself stays pending; its reason in
 * `outcomes` then says where to look. Throws what the store throws.
 */
export async function conflictFileSteps({
  request,
  outcomes,
  walker,
  isChosen,
  things,
}: ConflictFiles): Promise<Step[]> {
  const steps: Step[] = [];
  const byPath = new Map<string, ChosenChange>(request.choice.chosen.map((one) => [one.change.path, one]));
  for (const [at, outcome] of outcomes.entries()) {
    if (!isChosen(outcome.path)) continue;
    const one = byPath.get(outcome.path);
    const after = one?.change.after;
    if (one === undefined || outcome.verdict !== 'conflict' || after?.kind !== 'file' || after.digest === undefined)
      continue;
    const path = things.conflictFileOf(outcome.path) ?? conflictFile(outcome.path);
    const hindrance = hindranceAt(walker, path) ?? (await findingAt(path, one, after, request));
    // Asked for again, it would lead to the same.
    const ways = outcome.ways?.filter((way) => way !== 'file') ?? [];
    if (hindrance !== undefined) {
      outcomes[at] = { ...outcome, ways, why: `${outcome.why}; ${hindrance}` };
      continue;
    }
    steps.push({
      path,
      post: { kind: 'file', mode: after.mode & 0o666, digest: after.digest, size: after.size },
    });
    outcomes[at] = { ...outcome, ways, why: `${outcome.why}; the session's version is ${path}` };
  }
  return steps;
}

/** The name next to a file of the host that the session's version gets. */
export const conflictFile = (path: string): string => `${path}.session`;

/**
 * Why the audit holds a new file of this name back: the session's bytes were judged under another one. A suspect finding
 * does not, where the change was chosen by name.
 */
async function findingAt(
  path: string,
  one: ChosenChange,
  after: Entry,
  request: ApplyRequest,
): Promise<string | undefined> {
  if (after.digest === undefined || after.size > MAX_IN_MEMORY_BYTES) return `too large to be judged as ${path}`;
  const contents = new Map<Digest, Buffer>([[after.digest, await request.store.read(after.digest)]]);
  const findings = await request.audit(
    { path: path as RelPath, kind: 'created', after: { ...after, mode: after.mode & 0o666 } },
    contents,
  );
  const found = findings.find(
    ({ severity }) => severity === 'blocked' || (severity === 'suspect' && one.suspect !== true),
  );
  return found && `nothing written next to it: ${found.why}`;
}

/** Why nothing can be put there; undefined where it can. */
export function hindranceAt(walker: HostWalker, path: string): string | undefined {
  try {
    return fingerprintHost(walker, path) === undefined ? undefined : `${path} is there already`;
  } catch (error) {
    if (!isOnePath(error)) throw error;
    return `nothing written next to it: ${reasonOf(error)}`;
  }
}
