import { MAX_IN_MEMORY_BYTES } from '../../../core/text/in-memory.ts';
import type { Conflict, ConflictRule } from '../../../core/types/change/conflict.ts';
import type { Entry } from '../../../core/types/entry.ts';
import type { ChosenChange } from '../../../core/types/review.ts';
import type { Preparing } from '../apply-request.ts';
import type { HostState } from '../disk/host/host-entry.ts';
import { conflictFile, hindranceAt } from './conflict-files.ts';
import { readWhole } from './merge-file.ts';

interface Sides {
  readonly one: ChosenChange;
  readonly session: Entry | undefined;
  readonly host: HostState | undefined;
}

/** A conflict with what can be chosen for it: `swap`, the session's version; `mark`, both between markers. */
export function conflictAt(
  { one, session, host }: Sides,
  why: string,
  can: { readonly swap: boolean; readonly mark: boolean },
  { walker, request }: Preparing,
): Conflict {
  const { path } = one.change;
  const digest = session?.kind === 'file' ? session.digest : undefined;
  const rules: ConflictRule[] = ['keep'];
  if (can.swap) rules.push('theirs');
  if (can.mark) rules.push('markers');
  if (digest !== undefined && hindranceAt(walker, conflictFile(path)) === undefined) rules.push('file');
  const isShown = host?.kind === 'file' && Math.max(host.size, session?.size ?? 0) <= MAX_IN_MEMORY_BYTES;
  if (!isShown || digest === undefined) return { path, why, rules };
  const versions = async () => ({ host: readWhole(walker, path), session: await request.store.read(digest) });
  return { path, why, rules, versions };
}
