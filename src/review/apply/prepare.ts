import { closeSync } from 'node:fs';
import { turnsOf } from '../../core/host/processes/turns.ts';
import { readOpen } from '../../core/store/read-open.ts';
import type { Entry } from '../../core/types/entry.ts';
import type { ChosenChange } from '../../core/types/review.ts';
import type { ChangeOutcome } from '../../core/types/session.ts';
import type { Decided, Lookups, Preparing } from './apply-request.ts';
import { chosenParts } from './chosen-parts.ts';
import { type Decision, decide } from './decide.ts';
import { mayHaveAttributes } from './disk/attributes.ts';
import { heldFolder } from './disk/host/held-folder.ts';
import { fingerprintHost, type HostState, openHost, readHost } from './disk/host/host-entry.ts';
import { readHostNames } from './disk/host/host-names.ts';
import { NotAFolder } from './disk/host/host-path.ts';
import { isInProject } from './disk/journal/journal.ts';
import { isOnePath, reasonOf } from './disk/steps/step-failure.ts';
import { foldCase, type Step } from './disk/steps/steps.ts';
import { dropPartial } from './drop-broken.ts';
import { earlierApplies, mergeBase } from './earlier-applies.ts';
import { insideLinks } from './entries/hard-links.ts';
import { withImpliedFolders } from './implied-folders.ts';
import { judgeTaken, type Taken } from './judge-taken.ts';
import { alreadyThere, left, type StepOrOutcome, stepOf, targetOf } from './make-step.ts';
import { conflictAt } from './merge/conflict-at.ts';
import { conflictFile, hindranceAt } from './merge/conflict-files.ts';
import { conflictRules } from './merge/conflict-rules.ts';
import { mergeFile, SAME_LINES } from './merge/merge-file.ts';
import { missingFolderSteps, withoutUnusedFolders } from './missing-folders.ts';
import { type DecidedSets, decideSets } from './sets/decide-sets.ts';

/** The steps that apply a choice to the host as it is now, and the outcomes of changes without a step. */
export interface Prepared {
  readonly steps: readonly Step[];
  readonly outcomes: readonly ChangeOutcome[];
  /** Whether the session's version of a conflict at this path is written next to the host's. */
  readonly isBeside: (path: string) => boolean;
  /** What was decided about things in several files. */
  readonly things: DecidedSets;
}

function lookUp(chosen: readonly ChosenChange[]): Pick<Lookups, 'byPath' | 'createdByFold' | 'deletedByFold'> {
  const deleted = chosen.filter(({ change }) => change.kind === 'deleted');
  const created = new Map<string, string>();
  for (const { change } of chosen) {
    const fold = foldCase(change.path);
    if (change.before === undefined && !created.has(fold)) created.set(fold, change.path);
  }
  return {
    createdByFold: created,
    byPath: new Map(chosen.map((one) => [one.change.path, one])),
    deletedByFold: new Map(deleted.map(({ change }) => [foldCase(change.path), change.path])),
  };
}

/**
 * Decides every chosen change three-way, and puts pre-images of what will be replaced or deleted into the store. Reads
 * the host, writes nothing to it.
 */
export async function prepare(asked: Preparing): Promise<Prepared> {
  const { request } = asked;
  const chosen = withImpliedFolders(request);
  const { walker } = asked;
  const earlier = asked.trusted ? new Map() : earlierApplies(request.sessionDir, chosen);
  const rules = conflictRules(request);
  const preparing: Lookups = { ...asked, ...lookUp(chosen), names: readHostNames(walker), rules, earlier };
  const { left: held } = request.choice;
  const things = await decideSets(chosen, preparing);
  const steps: Step[] = [];
  const outcomes: ChangeOutcome[] = [];
  const turn = turnsOf(undefined);
  const known = new Map<string, ChangeOutcome>(held.map((one) => [one.path, one]));
  for (const one of chosen) {
    await turn();
    if (request.signal?.aborted === true) {
      outcomes.push(left(one, 'skipped', 'interrupted').outcome);
      continue;
    }
    const result = await prepareOne(one, preparing, things).catch((error: unknown): StepOrOutcome => {
      if (!isOnePath(error)) throw error;
      if (!(error instanceof NotAFolder)) return left(one, 'failed', reasonOf(error));
      const folder = heldFolder(one.change.path, known);
      return left(one, folder?.verdict ?? 'conflict', folder?.why ?? parentReason(error));
    });
    if ('step' in result) steps.push(result.step);
    else {
      outcomes.push(result.outcome);
      known.set(result.outcome.path, result.outcome);
    }
  }
  const folders = await missingFolderSteps(steps, preparing.byPath, preparing);
  const context = { walker, left: held, thingOf: things.thingOf };
  const kept = dropPartial([...steps, ...folders], outcomes, chosen, context);
  const whole = withoutUnusedFolders(kept, folders, outcomes);
  const files = whole.filter((step) => step.pre?.kind === 'file' && step.post?.kind === 'file');
  const marked = mayHaveAttributes(
    request.project,
    files.map((step) => step.path),
  );
  const inside = insideLinks(request.project, files);
  const canGive = ownersToGive();
  const whyNoConflictFile = (path: string): string | undefined =>
    hindranceAt(walker, things.conflictFileOf(path) ?? conflictFile(path));
  return {
    steps: whole.map((step) => ({
      ...withThing(step, things),
      ...(marked.has(step.path) ? { attributes: true } : {}),
      // A file whose names are all in the project stays one file. With a name elsewhere it gets its own copy.
      ...(inside.has(step.path) || (step.pre?.kind === 'file' && !canGive(step.pre)) ? { inPlace: true } : {}),
    })),
    outcomes: outcomes.map((one) => {
      const ways = one.verdict === 'conflict' ? rules.waysAt(one.path) : undefined;
      const beside = request.conflict === 'file' && ways?.includes('file') === false && whyNoConflictFile(one.path);
      const why = beside ? { why: `${one.why}; ${beside}` } : {};
      return { ...withThing(one, things), ...why, ...(ways !== undefined && { ways }) };
    }),
    isBeside: (path) => (rules.chosen.get(path) ?? request.conflict) === 'file',
    things,
  };
}

/** A step or an outcome with the thing in several files that it is about. */
function withThing<T extends Step | ChangeOutcome>(one: T, things: DecidedSets): T {
  const thing = things.thingOf(one.path);
  return thing === undefined ? one : { ...one, thing };
}

async function prepareOne(one: ChosenChange, preparing: Lookups, things: DecidedSets): Promise<StepOrOutcome> {
  const { change } = one;
  const against = things.reasonAgainst(change.path);
  if (against !== undefined) return left(one, 'conflict', against);
  if (change.problem !== undefined || change.inGit || !isInProject(change.path)) {
    return left(one, 'blocked', change.problem ?? 'never written: it is in a .git');
  }
  const session = one.content === undefined ? change.after : await chosenParts(one, one.content, preparing);
  if (session !== undefined && 'verdict' in session) return left(one, session.verdict, session.why);
  const there = readBehind(change.path, preparing);
  const renamed = there !== undefined && caseRename(one, preparing);
  if (change.before === undefined) {
    const isRenamed = (part: string): boolean => caseRename(preparing.byPath.get(part), preparing);
    const alias = preparing.names.aliasIn(change.path, isRenamed);
    if (alias !== undefined) return left(one, 'conflict', `this disk takes ${alias} for another name that is there`);
    const twin = preparing.createdByFold.get(foldCase(change.path));
    if (twin !== undefined && twin !== change.path && preparing.names.foldsAt(change.path))
      return left(one, 'conflict', `this disk takes it and ${twin} for one name`);
  }
  const host = renamed ? undefined : there;
  const alone = decide({ base: mergeBase(one, host, preparing.earlier), session, host, trusted: preparing.trusted });
  const isTaken = alone.kind === 'merge' && things.isTaken(change.path);
  const decision = isTaken ? ({ kind: 'conflict', why: 'changed on both sides' } as const) : alone;
  const outcome = await fromDecision({ one, session, host, decision }, preparing);
  if (renamed && 'step' in outcome) return { step: { ...outcome.step, renames: true } };
  if ('step' in outcome && outcome.step.pre?.kind === 'file') await keepPreImage(outcome.step, preparing);
  return outcome;
}

/** Whether this process may give a new file this owner and group. */
function ownersToGive(): (owner: HostState) => boolean {
  const us = process.getuid?.() ?? 0;
  const groups = new Set([process.getgid?.() ?? 0, ...(process.getgroups?.() ?? [])]);
  return ({ uid, gid }) => us === 0 || (uid === us && groups.has(gid));
}

/** What is at a path; nothing when another chosen change first replaces the entry in the way by a folder. */
function readBehind(path: string, { walker, byPath }: Lookups): HostState | undefined {
  try {
    return readHost(walker, path);
  } catch (error) {
    const becomes = error instanceof NotAFolder ? byPath.get(error.path)?.change.after : undefined;
    if (becomes?.kind !== 'dir') throw error;
    return undefined;
  }
}

async function fromDecision(decided: Decided, preparing: Lookups): Promise<StepOrOutcome> {
  const { one, session, host, decision } = decided;
  switch (decision.kind) {
    case 'same':
      return alreadyThere(one, host);
    case 'delete':
      return stepOf(one, host, undefined);
    case 'mode':
      return stepOf(one, host, targetOf(host as HostState, decision.mode));
    case 'take':
      return takeSession(decided, decision.mode, preparing);
    case 'merge': {
      // The audit judges the file with the mode that it gets, which may be the host's.
      const made = { ...(session as Entry), mode: decision.mode };
      return mergeBoth(decided, made, preparing);
    }
    case 'conflict': {
      // An entry that undo could not restore is never replaced.
      const special = host !== undefined && !['file', 'dir', 'symlink'].includes(host.kind);
      const swap = !special && host?.kind !== 'dir' && (session === undefined || session.kind !== 'dir');
      const rule = await preparing.rules.ruleFor(conflictAt(decided, decision.why, { swap, mark: false }, preparing));
      if (rule !== 'theirs') return left(one, 'conflict', decision.why);
      const held = await judgeTaken(decided, (session?.mode ?? 0) & 0o777, preparing, "over the host's");
      return held ?? stepOf(one, host, session && targetOf(session, session.mode & 0o777));
    }
  }
}

/** Merges both sides; where they conflict, again with markers or with the session's version, as the rule says. */
async function mergeBoth(decided: Decided, made: Entry, preparing: Lookups): Promise<StepOrOutcome> {
  const { one, host, decision } = decided;
  const mode = (decision as Extract<Decision, { kind: 'merge' }>).mode;
  let merged = await mergeFile(one, made, host as HostState, preparing);
  if ('verdict' in merged && merged.verdict === 'conflict') {
    const mark = merged.why === SAME_LINES;
    const rule = await preparing.rules.ruleFor(conflictAt(decided, merged.why, { swap: true, mark }, preparing));
    if (rule === 'theirs') return takeSession(decided, mode, preparing, "over the host's");
    if (rule === 'markers' && mark) merged = await mergeFile(one, made, host as HostState, preparing, rule);
  }
  if ('verdict' in merged) {
    return merged.verdict === 'same' ? alreadyThere(one, host) : left(one, merged.verdict, merged.why);
  }
  const entry = { ...made, digest: merged.digest, size: merged.size };
  return stepOf(one, host, targetOf(entry, mode), merged.note);
}

/** The session's content with this mode; or why it is held back. */
async function takeSession(
  decided: Decided,
  mode: number,
  preparing: Preparing,
  taken: Taken = 'unopposed',
): Promise<StepOrOutcome> {
  const { one, session, host } = decided;
  const held = await judgeTaken(decided, mode, preparing, taken);
  return held ?? stepOf(one, host, targetOf(session as Entry, mode, preparing.trusted));
}

/** Puts the host's own bytes into the store before the host is changed: undo and roll-back need them. */
async function keepPreImage(step: Step, { request, walker }: Preparing): Promise<void> {
  const digest = step.pre?.digest;
  if (digest === undefined || (await request.store.has(digest))) return;
  const fd = openHost(walker, step.path);
  try {
    const stored = await request.store.put(readOpen(fd));
    if (stored.digest !== digest)
      throw Object.assign(new Error('changed on the host while applying'), { code: 'ECHANGED' });
  } finally {
    closeSync(fd);
  }
}

/** Where letter case is folded: the entry at a created path is the file whose old name is deleted with it. */
function caseRename(one: ChosenChange | undefined, { walker, deletedByFold }: Lookups): boolean {
  if (one === undefined || one.change.before !== undefined || one.change.after === undefined) return false;
  const old = deletedByFold.get(foldCase(one.change.path));
  if (old === undefined) return false;
  const here = fingerprintHost(walker, one.change.path);
  return here !== undefined && here === fingerprintHost(walker, old);
}

function parentReason(error: NotAFolder): string {
  return error.found === 'link'
    ? 'a folder on the way is a link on the host'
    : 'a folder on the way is not a folder on the host';
}
