import { lstatSync } from 'node:fs';
import { isWatchedPath } from '../../audit/files.ts';
import { SETGID } from '../../audit/input.ts';
import type { Change, ContentReader, Digest } from '../../core/types/entry.ts';
import type { Finding } from '../../core/types/finding.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { Review } from '../../core/types/review.ts';
import type { SessionRecord } from '../../core/types/session.ts';
import { buildReview } from '../../review/choices/build-review.ts';
import { ChangeJudge } from '../../review/judging/change-judge.ts';
import { policySettings } from '../../review/judging/policy-settings.ts';
import { diffLines } from '../../review/screen/diff/diff-view.ts';
import { loadDiff } from '../../review/screen/diff/show.ts';
import { tellLines } from '../../review/screen/finding-lines.ts';
import { ask } from '../../terminal/ask.ts';
import { cleanLine } from '../../terminal/clean.ts';
import { say } from '../../terminal/say.ts';
import { PREFIX } from '../../terminal/screen.ts';
import { type BindOutcome, closeBind } from '../../workspace/bind/session.ts';
import { type BindSnapshot, bindStore, MAX_KEPT_BYTES } from '../../workspace/bind/snapshot.ts';
import { maskedValues, seenFindings } from '../end/masked-values.ts';
import { changedInPlaceLine, findingsInPlace, ignoredInPlaceLines } from '../end/report/shown-review.ts';
import type { UserDeps } from '../stage/deps.ts';
import { restoreQuestion } from './questions.ts';

/** Of all suspect changes together; the user's own tools show the rest. */
const MAX_DIFF_LINES = 400;

/** What a bind session left in the project. */
export interface CheckedProject {
  /** Changes that were put back or moved to quarantine, or are lost. */
  readonly heldBack: number;
  readonly review: Review;
}

/**
 * Restores what a bind session's agent changed and git could execute, audits its other changes, and reports both.
 * Precondition: the agent's container has been removed. Throws errors of the disk; a later call continues.
 */
export async function checkProject(
  record: SessionRecord,
  snapshot: BindSnapshot,
  deps: UserDeps,
): Promise<CheckedProject> {
  const { plan } = record;
  const { tell } = deps;
  tell({ kind: 'message', level: 'info', text: 'Session ended. Checking what it left in the project...' });
  const contents = new Map<Digest, Buffer>();
  using judge = new ChangeJudge({ content: (digest) => contents.get(digest) });
  // It starts while the project is compared.
  judge.start();
  const outcome = await closeBind({
    plan,
    snapshot,
    tell,
    ask: askToRestore(deps),
    audit: async (changes, content) => {
      await readContents(changes, content, contents);
      return auditBound(changes, judge, { record, snapshot, deps });
    },
  });
  const findings = [...seenFindings(plan.sessionDir), ...outcome.findings];
  const review = reviewOf(plan, snapshot, { ...outcome, findings });
  tell({ kind: 'message', level: 'info', text: changedInPlaceLine(review) });
  tellLines(findingsInPlace(findings), tell);
  const large = outcome.changes.filter(({ after }) => after?.kind === 'file' && after.size > MAX_KEPT_BYTES);
  for (const { path } of large)
    tell({ kind: 'message', level: 'info', text: `not audited, too large: ${cleanLine(path)}` });
  await tellDiffs(outcome, record, deps);
  for (const text of ignoredInPlaceLines(review)) tell({ kind: 'message', level: 'info', text });
  return { heldBack: outcome.heldBack, review };
}

/** For the report, in the form that the changes of a copy have. */
function reviewOf(plan: Plan, before: BindSnapshot, outcome: BindOutcome): Review {
  const { changes, ignored: withheld, findings } = outcome;
  return buildReview({
    collected: { changes, problems: [], withheld, baseEntries: before.entries.size },
    findings,
    allowSuspect: plan.policy.allowSuspect,
    includeIgnored: true,
  });
}

/** Prints the diffs of suspect changes. A missing earlier content is reported, never hidden. */
async function tellDiffs(outcome: BindOutcome, { id, plan }: SessionRecord, deps: UserDeps): Promise<void> {
  const content: ContentReader = bindStore(plan.sessionDir);
  const suspects = outcome.changes.filter(({ path }) =>
    outcome.findings.some((finding) => finding.path === path && finding.severity !== 'note'),
  );
  const lines: string[] = [];
  for (const change of suspects) {
    const item = { change, state: 'suspect', findings: [] } as const;
    const isKept = change.before === undefined || change.before.kind !== 'file' || change.before.digest !== undefined;
    const diff = isKept ? await loadDiff(content, item) : ({ kind: 'none' } as const);
    const columns = (deps.screen?.stderr.columns ?? 110) - PREFIX.length;
    for (const line of diffLines(item, diff, { colour: false, columns })) lines.push(line);
    if (!isKept) lines.push('its content before the session was not kept');
  }
  for (const text of lines.slice(0, MAX_DIFF_LINES)) deps.tell({ kind: 'message', level: 'info', text });
  const more = lines.length - MAX_DIFF_LINES;
  const rest = `... and ${more} more lines. Where to see all: run-claude diff ${id}`;
  if (more > 0) deps.tell({ kind: 'message', level: 'info', text: rest });
}

async function readContents(
  changes: readonly Change[],
  store: ContentReader,
  contents: Map<Digest, Buffer>,
): Promise<void> {
  for (const { before, after } of changes) {
    for (const digest of [before?.digest, after?.digest]) {
      if (digest !== undefined && !contents.has(digest)) contents.set(digest, await store.read(digest));
    }
  }
}

interface BoundAudit {
  readonly record: SessionRecord;
  readonly snapshot: BindSnapshot;
  readonly deps: UserDeps;
}

/** Folders that had the setgid bit before the session, and the project itself where it has the bit now. */
function setgidFolders(root: string, { entries }: BindSnapshot): readonly string[] {
  const isSetgid = ({ mode }: { readonly mode: number }): boolean => (mode & SETGID) !== 0;
  const folders = [...entries].filter(([, entry]) => entry.kind === 'dir' && isSetgid(entry)).map(([name]) => name);
  return isSetgid(lstatSync(root)) ? ['', ...folders] : folders;
}

async function auditBound(
  changes: readonly Change[],
  judge: ChangeJudge,
  { record: { plan }, snapshot, deps: { interruption, tell } }: BoundAudit,
): Promise<readonly Finding[]> {
  const masked = maskedValues(plan);
  const findings = await judge.audit({
    // The user may have written a real value to another file in the meantime.
    ...(masked === undefined ? {} : { masked: { ...masked, real: [] } }),
    changes: changes.map(withoutUnknown),
    setgidFolders: setgidFolders(plan.project.root, snapshot),
    pathFolders: plan.project.pathFolders,
    signal: interruption.next(),
    tell,
    ...policySettings(plan.policy),
  });
  return findings.filter(({ rule, path }) => rule !== 'unreadable' || isWatchedPath(path));
}

/** A file whose earlier content was not kept is audited as if all of it were new: that finds more, never less. */
function withoutUnknown(change: Change): Change {
  const { before, ...rest } = change;
  return before?.kind === 'file' && before.size > 0 && before.digest === undefined ? rest : change;
}

function askToRestore({ screen }: UserDeps): Parameters<typeof closeBind>[0]['ask'] {
  if (screen === undefined) return undefined;
  return async (differences) => {
    const lines = differences.map(({ path, why }) => `git could run: ${cleanLine(path)} (${cleanLine(why)})`);
    say(screen, lines);
    return (await ask(screen, restoreQuestion()))?.key !== 'n';
  };
}
