import { agentOf } from '../../agents/agents.ts';
import { DEFAULT_ENGINE } from '../../core/config/default-engine.ts';
import { durationText, whenText } from '../../core/text/when.ts';
import type { Severity } from '../../core/types/finding.ts';
import type { ImportedFrom, SessionRecord } from '../../core/types/session.ts';
import { inPartWords } from '../../review/screen/outcome-lines.ts';
import { shortPath } from '../../review/screen/summary.ts';
import type { SessionFacts } from '../../session/end/report/session-facts.ts';
import { readProposal } from '../../session/kept/proposal.ts';
import { failureText } from '../../session/record/start-failure.ts';
import { cleanLine } from '../../terminal/clean.ts';
import { cutEnd, cutStart } from '../../terminal/columns/width.ts';
import { amount } from '../../terminal/progress.ts';
import { programText } from './program-text.ts';

/** A session as a listing shows it. */
export interface ListedSession {
  readonly record: SessionRecord;
  readonly facts: SessionFacts;
}

export interface ListOptions {
  /** The width of the terminal; infinite without one. */
  readonly columns: number;
  readonly nowMs: number;
  readonly home: string;
  /** All sessions are of one project, so that lines do not name it. */
  readonly isOneProject: boolean;
}

/** The widest path next to a prompt. */
const MAX_PATH_COLUMNS = 34;
const INDENT = '  ';

/**
 * A line with the names of the columns, then two lines for each session, and a third for its note. The first has the id, the engine where one of them is not on the
 * default engine, the state, the age, files and findings. The
 * second has the mode, how long the agent ran, the project, and the prompt or command. Cleaned. Only paths, prompts and
 * notes are cut.
 */
export function sessionLines(sessions: readonly ListedSession[], options: ListOptions): string[] {
  const { columns, nowMs } = options;
  const isElsewhere = sessions.some(({ record }) => record.plan.engine.on !== undefined);
  if (sessions.length === 0) return [];
  const names = ['session', ...(isElsewhere ? ['engine'] : []), 'state', 'started'];
  const heads = sessions.map(({ record, facts }) => [
    record.id,
    ...(isElsewhere ? [record.plan.engine.on ?? DEFAULT_ENGINE] : []),
    stateText(facts),
    whenText(record.started, nowMs),
  ]);
  const widths = names.map((_, at) =>
    [names, ...heads].reduce((most, head) => Math.max(most, head[at]?.length ?? 0), 0),
  );
  const rowOf = (cells: readonly string[]): string => cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ');
  const lines = sessions.flatMap(({ record, facts }, index) => {
    const head = rowOf(heads[index] ?? []);
    const content = contentText(facts);
    const fits = head.length + 2 + content.length <= columns;
    return [
      ...(fits ? [`${head}  ${content}`.trimEnd()] : [head.trimEnd(), INDENT + content]),
      cutEnd(INDENT + ranText(record, options), columns),
      ...(record.failure === undefined ? [] : [cutEnd(INDENT + cleanLine(failureText(record)), columns)]),
      ...proposalLines(record, columns),
      ...(record.note ? [cutEnd(`${INDENT}note: ${cleanLine(record.note)}`, columns)] : []),
    ];
  });
  return [cutEnd(`${rowOf(names)}  changes`, columns), ...lines];
}

/** A review that was asked for from inside, as long as nothing was decided. */
function proposalLines(record: SessionRecord, columns: number): string[] {
  if (record.stage === 'applied' || record.stage === 'discarded') return [];
  const proposal = readProposal(record);
  return proposal === undefined ? [] : [cutEnd(`${INDENT}asks for a review: ${cleanLine(proposal.summary)}`, columns)];
}

/** The state in words: 'partly applied'. */
export function stateText({ state }: Pick<SessionFacts, 'state'>): string {
  return state.replaceAll('-', ' ');
}

/** '3 of 5 files, 1 suspect, commits'; 'no changes' for none. */
export function contentText({ state, files, paths, hasCommits, ignored }: SessionFacts): string {
  const parts: string[] = [];
  if (files !== undefined && files.total > 0) {
    const done = files.applied + files.inPart;
    const isPart = state === 'partly-applied' || (state === 'applied' && done < files.total);
    parts.push(isPart ? `${done} of ${amount(files.total, 'files')}` : amount(files.total, 'files'));
    if (files.inPart > 0) parts.push(inPartWords(files.inPart));
  }
  const { blocked, suspect } = paths;
  if (suspect > 0) parts.push(`${suspect} suspect`);
  if (blocked > 0) parts.push(`${blocked} blocked`);
  if (hasCommits) parts.push('commits');
  if (ignored > 0) parts.push(`${ignored} ignored`);
  if (parts.length > 0) return parts.join(', ');
  return files === undefined ? '' : 'no changes';
}

/** What a session still has, which a discard gives up: '3 files left, 2 commits'. */
export function leftText(record: Pick<SessionRecord, 'commits'>, facts: SessionFacts): string {
  const { files, hasCommits, ignored } = facts;
  const commits = (record.commits ?? []).reduce((sum, { count }) => sum + count, 0);
  const parts = [
    ...(files !== undefined && files.left > 0 ? [`${amount(files.left, 'files')} left`] : []),
    ...(hasCommits ? [commits === 0 ? 'its commits' : `${commits} ${commits === 1 ? 'commit' : 'commits'}`] : []),
    ...(ignored > 0 ? [`${amount(ignored, 'files')} that ignore rules matched`] : []),
  ];
  return parts.length === 0 ? 'which has nothing left to apply' : parts.join(', ');
}

/** 'copy, 1 min 20 s, ~/project: "fix the tests"'. */
function ranText(record: SessionRecord, { columns, home, isOneProject, nowMs }: ListOptions): string {
  const took = record.agentMs === undefined ? [] : [durationText(record.agentMs)];
  const maxPath = columns === Number.POSITIVE_INFINITY ? columns : MAX_PATH_COLUMNS;
  const where = isOneProject ? [] : [cutStart(shortPath(record.project, home), maxPath)];
  const before = [record.plan.mode, ...took, ...where].join(', ');
  const what = record.imported === undefined ? programText(record.plan.program) : importedText(record.imported, nowMs);
  return `${before}: ${cleanLine(what)}`;
}

/** Where an imported session came from: 'imported from session 261121-140512-k7p (exported today 14:03)'. */
export function importedText({ session, exported }: ImportedFrom, nowMs: number): string {
  return `imported from session ${session} (exported ${whenText(exported, nowMs)})`;
}

/** A session for `--json`. Existing fields never change their meaning. */
export function sessionData({ record, facts }: ListedSession, owner: string): object {
  const { id, project, stage, started, updated, agentStatus, agentMs, note, plan, imported } = record;
  const findings: Readonly<Record<Severity, number>> = facts.findings;
  return {
    id,
    project,
    stage,
    state: facts.state,
    started,
    updated,
    mode: plan.mode,
    engine: plan.engine.on ?? DEFAULT_ENGINE,
    endpoint: plan.engine.endpoint,
    owner,
    program: agentOf(plan.program)?.name ?? plan.program.kind,
    command: programText(plan.program),
    agentStatus,
    agentMs,
    failure: record.failure,
    usage: record.usage ?? null,
    files: facts.files ?? null,
    findings,
    commits: facts.hasCommits,
    ignored: facts.ignored,
    note,
    imported,
  };
}
