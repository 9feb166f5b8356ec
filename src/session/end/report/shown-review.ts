import type { Report } from '../../../core/report/schema.ts';
import { shellWord } from '../../../core/text/shell-word.ts';
import type { Change } from '../../../core/types/entry.ts';
import type { Finding } from '../../../core/types/finding.ts';
import type { FileCounts, Review } from '../../../core/types/review.ts';
import type { SecretFile } from '../../../core/types/secret/secret-file.ts';
import type { SessionRecord } from '../../../core/types/session.ts';
import { buildReview } from '../../../review/choices/build-review.ts';
import { totalFiles } from '../../../review/choices/counts.ts';
import { findingsOf } from '../../../review/choices/findings.ts';
import { findingLines, type SummaryLine, sentEnd } from '../../../review/screen/finding-lines.ts';
import { claudeLines, summaryLines } from '../../../review/screen/summary.ts';
import { cleanLine } from '../../../terminal/clean.ts';
import { amount } from '../../../terminal/progress.ts';
import { readSecretFiles, secretFileLines } from '../../record/secrets/decoys.ts';
import { wasCollected } from '../../record/session.ts';
import { testLines } from '../../tests/test-lines.ts';
import { reviewOf } from '../frozen-review.ts';
import { readOwnReport } from './own-report.ts';

/** Before every path of Claude's data in a review. */
const CLAUDE_HOME = '~/.claude/';

/** Whether the project has the changes of a session already, and nothing of them is kept: it ran in bind mode. */
export function isInPlace({ plan }: SessionRecord): boolean {
  return plan.mode === 'bind';
}

/** The files of the project that hold secrets, as they were when a session began, with a line for each. */
export function shownSecrets({ plan }: SessionRecord): {
  readonly files: readonly SecretFile[];
  readonly lines: string[];
} {
  return { files: readSecretFiles(plan.sessionDir), lines: secretFileLines(plan.sessionDir) };
}

/**
 * The changes of a collected session as views show them: those of a bind session by its own report, which has paths,
 * kinds and findings and no content. Undefined where nothing was collected.
 *
 * @throws {RunClaudeError} as readCollected and readOwnReport do
 */
export function shownReview(record: SessionRecord): Review | undefined {
  const { sessionDir } = record.plan;
  const frozen = wasCollected(sessionDir) ? reviewOf(record) : undefined;
  const report = isInPlace(record) ? readOwnReport(sessionDir) : undefined;
  if (report === undefined) return frozen;
  const review = reviewInPlace(report);
  return {
    ...review,
    ...(frozen?.claude && { claude: frozen.claude }),
    ...(frozen?.commits && { commits: frozen.commits }),
  };
}

function reviewInPlace(report: Report): Review {
  const { changes, findings, problems, withheld, counts, massDeletion } = report;
  const { renamed = 0, ...kinds } = counts;
  const review = buildReview({
    collected: {
      changes: changes.map(
        ({ path, kind, state }) => ({ path, kind, ...(state === 'git' && { inGit: true }) }) as Change,
      ),
      problems,
      withheld,
      baseEntries: 0,
      renames: changes.flatMap(({ path, renamedFrom, similarity = 100 }) =>
        renamedFrom === undefined
          ? []
          : [{ from: renamedFrom as Change['path'], to: path as Change['path'], similarity }],
      ),
    },
    // Those of Claude's data come with it.
    findings: findings.filter(({ path }) => !path.startsWith(CLAUDE_HOME)).map(findingOf),
    allowSuspect: [],
    includeIgnored: true,
  });
  // A rename is in the report's numbers as a creation and a deletion too.
  const counted: FileCounts = { ...kinds, created: kinds.created - renamed, deleted: kinds.deleted - renamed, renamed };
  return { ...review, counts: counted, massDeletion };
}

/** The lines of a session's summary, in the words of its end. `layout`: makes the lines of findings in a copy session. */
export function shownLines(
  record: SessionRecord,
  review: Review,
  maxPerKind?: number,
  layout?: (findings: readonly Finding[]) => SummaryLine[],
): readonly SummaryLine[] {
  const { back, left } = splitClaude(record, review);
  const backLine = `Claude's data: ${amount(back, 'files')} brought back for this project.`;
  return [
    ...(isInPlace(record) ? linesInPlace(left) : summaryLines(left, maxPerKind, undefined, layout)),
    ...(back === 0 ? [] : [{ text: backLine, severity: 'info' } as const]),
  ];
}

function linesInPlace(review: Review): readonly SummaryLine[] {
  return [
    { text: changedInPlaceLine(review), severity: 'info' },
    ...findingsInPlace(findingsOf(withoutClaude(review))),
    ...ignoredInPlaceLines(review).map((text): SummaryLine => ({ text, severity: 'note' })),
    ...(review.claude === undefined ? [] : claudeLines(review.claude)),
  ];
}

/** The number of files of Claude's data that were brought back, and the review without them. */
function splitClaude({ outcome }: SessionRecord, review: Review): { readonly back: number; readonly left: Review } {
  const { claude } = review;
  const done = (outcome?.claude ?? []).filter(({ verdict }) => verdict === 'applied' || verdict === 'same');
  if (claude === undefined || done.length === 0) return { back: 0, left: review };
  const paths = new Set(done.map(({ path }) => `${CLAUDE_HOME}${path}`));
  const items = claude.items.filter(({ change }) => !paths.has(change.path));
  return { back: claude.items.length - items.length, left: { ...review, claude: { ...claude, items } } };
}

function withoutClaude({ claude: _, ...review }: Review): Review {
  return review;
}

const findingOf = (finding: Report['findings'][number]): Finding => finding as object as Finding;

/** '2 files changed in the project'. */
export function changedInPlaceLine({ counts, withheld }: Pick<Review, 'counts' | 'withheld'>): string {
  const total = totalFiles(counts);
  if (total > 0) return `${amount(total, 'files')} changed in the project`;
  return withheld.length > 0 ? 'Only ignored files changed' : 'No files changed';
}

/** Ignored names that get a line each. */
const MAX_IGNORED_LINES = 10;

/** What changed and git ignores, which no rule of the audit reads. */
export function ignoredInPlaceLines({ withheld }: Pick<Review, 'withheld'>): string[] {
  const lines = withheld
    .slice(0, MAX_IGNORED_LINES)
    .map(
      ({ directory, entries }) =>
        `not audited: ${cleanLine(directory)} (ignored, ${entries} ${entries === 1 ? 'entry' : 'entries'} changed)`,
    );
  const more = withheld.length - lines.length;
  return more > 0 ? [...lines, `not audited: ${more} more ignored ${more === 1 ? 'name' : 'names'}`] : lines;
}

/** The lines of findings in files that nothing holds back, without notes. */
export function findingsInPlace(findings: readonly Finding[]): readonly SummaryLine[] {
  const loud = findings.filter(({ severity }) => severity !== 'note');
  return findingLines(loud, Number.POSITIVE_INFINITY, (one) => sentEnd(one) ?? ' (it is in your project)');
}

/** Where to see what a bind session changed: one line for each step. */
export function whereInPlaceLines({ project, plan }: SessionRecord, { items }: Pick<Review, 'items'>): string[] {
  if (plan.project.git === 'none')
    return [`The changes are in the project already, and their earlier content is not kept: ${cleanLine(project)}`];
  const git = `git -C ${shellWord(cleanLine(project))}`;
  const hasNew = items.some(({ change, state }) => change.kind === 'created' && state !== 'git');
  return [
    `The changes are in the project already. To see them: ${git} diff`,
    // A diff compares with the index, which does not have the names of new files.
    ...(hasNew ? [`To see the new files there too, first: ${git} add --intent-to-add .`] : []),
  ];
}

/** The verdicts of the tests on its result, as lines. */
export function shownTests({ tests }: SessionRecord): string[] {
  return testLines(tests);
}
