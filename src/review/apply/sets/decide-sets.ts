import type { FileSet } from '../../../core/types/change/file-set.ts';
import type { LeftMember } from '../../../core/types/entry.ts';
import type { ChosenChange } from '../../../core/types/review.ts';
import { conflictMember, isScratchMember, setName } from '../../choices/file-sets.ts';
import type { Lookups } from '../apply-request.ts';
import { decide, sameContent } from '../decide.ts';
import { readHost } from '../disk/host/host-entry.ts';
import type { OtherMember } from '../disk/journal/journal-format.ts';
import { togetherReason } from '../disk/keep-together.ts';
import { isOnePath } from '../disk/steps/step-failure.ts';
import type { WhyInUse } from '../disk/whole-things.ts';
import { mergeBase } from '../earlier-applies.ts';
import { hindranceAt } from '../merge/conflict-files.ts';
import { setsOnHost, whyInUse } from './in-use.ts';
import { changedMember, otherMembers } from './other-members.ts';

/** What was decided about the chosen files of things in several files. */
export interface DecidedSets {
  /** The name of the thing that a path is a file of: 'SQLite database app.db'. */
  thingOf(path: string): string | undefined;
  readonly whyInUse: WhyInUse;
  /** Why the file stays as it is on the host, as all files of its thing; undefined where it may be applied. */
  reasonAgainst(path: string): string | undefined;
  /** The session's version of all files of its thing is taken, although the host changed one of them. */
  isTaken(path: string): boolean;
  /** What the things have besides the chosen files. */
  readonly others: readonly OtherMember[];
  /** Where `--conflict=file` writes the session's version; undefined where the file is of no such thing. */
  conflictFileOf(path: string): string | undefined;
}

/**
 * Decides about the files of one thing at once: all of them are applied, or none. They are never merged: a conflict of one of
 * them, or a file that the host changed and the session did not, is a conflict of all. So is a thing that is open on this
 * machine. Reads the host, writes nothing to it.
 */
export async function decideSets(chosen: readonly ChosenChange[], preparing: Lookups): Promise<DecidedSets> {
  const { names, request, rules, walker } = preparing;
  const left = new Map<string, LeftMember>((request.leftMembers ?? []).map((one) => [one.path, one]));
  const files = chosen.flatMap(({ change: { path, before, after } }) =>
    before?.kind === 'file' || after?.kind === 'file' ? [path as string] : [],
  );
  const keys = new Map<string, FileSet>();
  const against = new Map<string, string>();
  const taken = new Set<string>();
  /** Members that are as an apply of this session wrote them. */
  const own = new Set<string>();
  const recorded = preparing.others && new Map(preparing.others.map(({ path, version }) => [path, version]));
  const others: OtherMember[] = [];
  const known = [...left.keys(), ...(recorded?.keys() ?? [])];
  for (const set of setsOnHost(files, (folder) => names.namesIn(folder), known)) {
    for (const one of otherMembers(set, (path) => preparing.byPath.has(path), walker)) others.push(one);
    const members = set.members.flatMap((path) => preparing.byPath.get(path) ?? []);
    for (const one of members) {
      keys.set(one.change.path, set);
      if (isWrittenByApply(one, preparing)) own.add(one.change.path);
    }
    const found = conflictOf(set, members, { left, own, preparing, recorded });
    const [first] = members;
    if (found === undefined || first === undefined) continue;
    const lead = (members.find(({ change }) => change.path === set.thing) ?? first).change.path;
    const canTake = !found.isSure && members.every((one) => canReplace(one, preparing));
    const isFree = ({ change: { path } }: ChosenChange): boolean =>
      hindranceAt(walker, conflictMember(set, path) ?? '') === undefined;
    const canStand =
      !set.isFolder && !set.members.some((path) => left.get(path)?.entry !== undefined) && members.every(isFree);
    const conflict = {
      path: lead,
      why: found.why(lead),
      rules: ['keep', ...(canTake ? (['theirs'] as const) : []), ...(canStand ? (['file'] as const) : [])] as const,
    };
    const rule = await rules.ruleFor(conflict);
    for (const { change } of members) {
      if (found.isSame(change.path)) continue;
      rules.set(change.path, rule, conflict);
      if (rule === 'theirs') taken.add(change.path);
      else against.set(change.path, found.why(change.path));
    }
  }
  const conflictFileOf = (path: string): string | undefined => {
    const set = keys.get(path);
    return set && conflictMember(set, path);
  };
  return {
    reasonAgainst: (path) => against.get(path),
    isTaken: (path) => taken.has(path),
    conflictFileOf,
    others,
    thingOf: (path) => {
      const set = keys.get(path);
      return set && setName(set);
    },
    whyInUse: (path) => {
      const set = keys.get(path);
      return set === undefined || taken.has(path) ? undefined : whyInUse(set, walker, (one) => own.has(one))?.why;
    },
  };
}

interface Known {
  readonly left: ReadonlyMap<string, LeftMember>;
  readonly own: ReadonlySet<string>;
  readonly preparing: Lookups;
  /** Undo: the other files of the things, as the apply left them. Undefined where that is not known. */
  readonly recorded: ReadonlyMap<string, string> | undefined;
}

interface SetConflict {
  /** The reason of a member. */
  why(path: string): string;
  /** The host has this member as the session left it. */
  isSame(path: string): boolean;
  /** Nobody can decide for the session's version: it would not be whole, or a program has the thing open. */
  readonly isSure: boolean;
}

/** Why the members cannot be applied as one; undefined where they can, and where the host has all of them already. */
function conflictOf(
  set: FileSet,
  members: readonly ChosenChange[],
  { left, own, preparing, recorded }: Known,
): SetConflict | undefined {
  const verdicts = new Map(members.map((one) => [one.change.path as string, memberVerdict(one, preparing)]));
  const later =
    recorded && changedMember(set, (path) => preparing.byPath.has(path), { walker: preparing.walker, recorded });
  if (later === undefined && [...verdicts.values()].every((one) => one === 'same')) return undefined;
  const isSame = (path: string): boolean => verdicts.get(path) === 'same';
  const inUse = whyInUse(set, preparing.walker, (path) => own.has(path));
  if (inUse !== undefined) {
    const isReplaced = inUse.shownBy !== undefined && verdicts.has(inUse.shownBy);
    return { isSame, why: () => inUse.why, isSure: !isReplaced };
  }
  // Also where the host has no file of the apply any more, as when a database took its log in: what they held is in there.
  if (later !== undefined)
    return {
      isSame: () => false,
      why: () => `it is one ${set.what} with ${later}, which was changed since the apply`,
      isSure: true,
    };
  const changed = set.members.find((path) => isLeftAndChanged(set, path, { left, preparing }));
  if (changed !== undefined)
    return { isSame, why: () => `it is one ${set.what} with ${changed}, which the host changed`, isSure: true };
  for (const [path, verdict] of verdicts) {
    if (typeof verdict === 'string') continue;
    const whyOf = (other: string): string | undefined => {
      const own = verdicts.get(other);
      return typeof own === 'object' ? own.why : undefined;
    };
    return { isSame, why: (other) => whyOf(other) ?? togetherReason(path), isSure: false };
  }
  return undefined;
}

/** Whether the host has what an apply of this session wrote there: for an undo, what it undoes. */
function isWrittenByApply({ change }: ChosenChange, { earlier, trusted, walker }: Lookups): boolean {
  const written = trusted ? change.before : earlier.get(change.path);
  if (written?.kind !== 'file') return false;
  try {
    return readHost(walker, change.path)?.digest === written.digest;
  } catch (error) {
    if (!isOnePath(error)) throw error;
    return false;
  }
}

/** What the three-way decision of one member alone says. */
function memberVerdict(one: ChosenChange, preparing: Lookups): 'same' | 'free' | { readonly why: string } {
  try {
    const host = readHost(preparing.walker, one.change.path);
    const base = mergeBase(one, host, preparing.earlier);
    const decision = decide({ base, session: one.change.after, host, trusted: preparing.trusted });
    if (decision.kind === 'conflict') return { why: decision.why };
    if (decision.kind === 'merge') return { why: 'changed on both sides' };
    return decision.kind === 'same' ? 'same' : 'free';
  } catch (error) {
    if (!isOnePath(error)) throw error;
    // Its own step reports the reason.
    return 'free';
  }
}

function isLeftAndChanged(set: FileSet, path: string, { left, preparing }: Pick<Known, 'left' | 'preparing'>): boolean {
  const known = left.get(path);
  if (known === undefined || preparing.byPath.has(path) || isScratchMember(set, path)) return false;
  const host = readHost(preparing.walker, path);
  if (host === undefined || known.entry === undefined) return host !== known.entry;
  return !sameContent(known.entry, host);
}

function canReplace({ change }: ChosenChange, { walker }: Lookups): boolean {
  try {
    const kind = readHost(walker, change.path)?.kind;
    return kind === undefined || kind === 'file' || kind === 'symlink';
  } catch (error) {
    if (!isOnePath(error)) throw error;
    return false;
  }
}
