import type { ContentStore } from '../../core/store/content.ts';
import { LACKED } from '../../core/text/lacked.ts';
import type { RelPath } from '../../core/text/path.ts';
import { type SelectionRules, selectPaths } from '../../core/text/selection.ts';
import type { Change, Entry } from '../../core/types/entry.ts';
import { lackingPaths } from '../../workspace/scan/lacking.ts';
import type { ChangeJudge } from '../judging/change-judge.ts';
import type { SetChange, SetEntry } from './format.ts';

/** The importer's own side of each change: the project as it is now, or a commit of it. */
export interface OwnBase {
  /** Number of entries, for the mass-deletion rule. */
  readonly count: number;
  /** What is at a path, its content in the store; undefined: nothing, or nothing that can be read. */
  entry(path: RelPath, store: ContentStore): Promise<Entry | undefined>;
  /** Whether the importer's ignore rules match a path that is not tracked. */
  isIgnored(path: RelPath, isDirectory: boolean): Promise<boolean>;
  /** Judges changes over this base. */
  openJudge(storeDir: string, changes: readonly Change[]): ChangeJudge;
}

/** The changes of a change set over the importer's own base. */
export interface Compared {
  readonly changes: readonly Change[];
  /** Paths that the session began with other content than the importer has: shown as new, or not deletable. */
  readonly differing: readonly RelPath[];
}

const UNREADABLE = 'it could not be read where the session was exported';
const OTHER_CONTENT = 'the session deleted other content than the project has';

/**
 * Turns each change of a change set into one of the importer's project. Where the importer has what the session began
 * with, the importer's own bytes are the side before. Otherwise there is no such side: the change is shown as new, and
 * applying it over other content is a conflict. What the project has already is left out. `rules` name the paths that the
 * importer's policy keeps out of sessions.
 */
export async function compareWithOwn(
  changes: readonly SetChange[],
  own: Pick<OwnBase, 'entry' | 'isIgnored'>,
  { store, rules }: { readonly store: ContentStore; readonly rules: SelectionRules },
): Promise<Compared> {
  const lacking = lackingPaths(selectPaths(rules), []);
  const found: Change[] = [];
  const differing: RelPath[] = [];
  for (const change of changes) {
    const { path } = change;
    const here = await own.entry(path, store);
    const { change: made, differs } = rebaseOnHost(change, here);
    if (differs) differing.push(path);
    if (made === undefined) continue;
    const isDirectory = (made.after ?? made.before)?.kind === 'dir';
    const isOut = lacking.lackOf(path, isDirectory) !== undefined;
    found.push({
      ...made,
      ...(isOut && { problem: LACKED }),
      ...((await own.isIgnored(path, isDirectory)) && { ignored: true }),
    });
  }
  return { changes: found.sort((a, b) => (a.path < b.path ? -1 : 1)), differing };
}

interface OverOwn {
  /** Undefined: the project has it already. */
  readonly change: Change | undefined;
  readonly differs: boolean;
}

/** One change over what the importer has at its path. Pure. */
export function rebaseOnHost({ path, before, after, unreadable }: SetChange, here: Entry | undefined): OverOwn {
  const isSame = before === undefined ? here === undefined : isAlike(before, here);
  const own = isSame && here !== undefined ? { before: here } : {};
  if (unreadable === true) {
    const kind = after === undefined ? 'deleted' : before === undefined ? 'created' : 'modified';
    return { change: { path, kind, ...own, problem: UNREADABLE }, differs: !isSame };
  }
  if (after === undefined) {
    if (here === undefined) return { change: undefined, differs: false };
    const problem = isSame ? {} : { problem: OTHER_CONTENT };
    return { change: { path, kind: 'deleted', before: here, ...problem }, differs: !isSame };
  }
  if (!isSame && isAlike(after, here)) return { change: undefined, differs: false };
  if (!isSame || here === undefined)
    return { change: { path, kind: 'created', after: checkedEntry(after) }, differs: !isSame };
  // Which bits a project has besides the executable one depends on the umask of its machine.
  const isModeKept =
    before !== undefined && (before.mode & 0o777) === (after.mode & 0o777) && before.kind === after.kind;
  const made: Entry = { ...checkedEntry(after), ...(isModeKept && { mode: here.mode }) };
  const kind = here.kind !== made.kind ? 'type' : !isAlike(after, here) ? 'modified' : 'mode';
  if (kind === 'mode' && made.mode === here.mode) return { change: undefined, differs: false };
  return { change: { path, kind, before: here, after: made }, differs: false };
}

/** Whether two entries hold the same, mode and time aside. */
function isAlike(claimed: SetEntry, here: Entry | undefined): boolean {
  if (here === undefined || claimed.kind !== here.kind) return false;
  if (claimed.kind === 'file') return claimed.digest !== undefined && claimed.digest === here.digest;
  return claimed.kind === 'dir' || (claimed.target !== undefined && claimed.target === here.target);
}

/** Nothing but the checked fields of a file that anybody may have written. */
function checkedEntry({ kind, mode, size, digest, target }: SetEntry): Entry {
  return {
    kind,
    mode,
    size,
    mtimeNs: '0',
    ...(digest !== undefined && { digest }),
    ...(target !== undefined && { target }),
  };
}
