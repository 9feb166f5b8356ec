import { RunClaudeError } from '../../core/errors.ts';
import { jsonText } from '../../core/report/json.ts';
import { durationText, whenText } from '../../core/text/when.ts';
import type { Review } from '../../core/types/review.ts';
import type { MadeBranch, SessionRecord } from '../../core/types/session.ts';
import { readUsage, usageLine } from '../../network/gateway/usage.ts';
import { countProgress, fileProgress } from '../../review/choices/file-progress.ts';
import { appliedLines, leftLines, progressLine } from '../../review/screen/outcome-lines.ts';
import { ignoredAmount } from '../../review/screen/summary.ts';
import { auditIfMissing, reviewOf } from '../../session/end/frozen-review.ts';
import { sessionFacts } from '../../session/end/report/session-facts.ts';
import {
  isInPlace,
  shownLines,
  shownReview,
  shownSecrets,
  shownTests,
  whereInPlaceLines,
} from '../../session/end/report/shown-review.ts';
import { hasPlace } from '../../session/kept/place.ts';
import { readProposal } from '../../session/kept/proposal.ts';
import { agentSession, extraFolderSessions } from '../../session/record/find/session-folders.ts';
import { isKept, isRunning } from '../../session/record/session.ts';
import { failureText } from '../../session/record/start-failure.ts';
import { cleanLine } from '../../terminal/clean.ts';
import { cutEnd } from '../../terminal/columns/width.ts';
import { outputColumns, wrapWords } from '../../terminal/columns/wrap-words.ts';
import type { LiveChanges } from '../../workspace/view/workspace.ts';
import { type CommandContext, type CommandRun, optionValue } from '../context/context.ts';
import type { CommandLineOfCommand } from '../grammar/parse-command-line.ts';
import { withSession } from '../sessions/open-session.ts';
import { programText } from '../sessions/program-text.ts';
import { importedText, stateText } from '../sessions/session-lines.ts';

/** A prompt may fill pages. */
const MAX_PROGRAM_COLUMNS = 200;

/** `status [ID]`: what a session changed, and how much of it was applied. */
export const statusCommand: CommandRun = async (line, context) => {
  const file = optionValue(line, 'report');
  const writeReport = file === undefined ? undefined : await reportWriter(file, context.cwd);
  return withSession(line, context, 'status', async (record, deps) => {
    if (isRunning(record) && writeReport === undefined) return runningStatus(record, line, context);
    if (writeReport !== undefined) await auditIfMissing(record, deps);
    await writeReport?.(record);
    const review = shownReview(record);
    if (line.options.has('json')) writeJson(record, review, context);
    else {
      const columns = outputColumns();
      const lines = statusLines(record, review, Date.now()).flatMap((text) => wrapWords(text, columns));
      for (const text of lines) context.write(`${text}\n`);
    }
    return 0;
  });
};

/** With --report: the rules of the audit are loaded for it alone. */
async function reportWriter(file: string, cwd: string): Promise<(record: SessionRecord) => Promise<void>> {
  const { reportOfEnded, reportPlace } = await import('../../session/end/report/write-report.ts');
  const place = reportPlace(file, cwd);
  return async (record) => place.write(await reportOfEnded(record, () => reviewOf(record)));
}

function writeJson(record: SessionRecord, review: Review | undefined, { write }: CommandContext): void {
  const { id, project, stage, started, agentStatus, stoppedBecause, outcome, note, imported, branches } = record;
  const usage = record.usage ?? readUsage(record.plan.sessionDir);
  const { state, files } = sessionFacts(record);
  const changes = review?.items.map(({ change, state, findings }) => ({
    path: change.path,
    kind: change.kind,
    state,
    findings,
  }));
  const claude = review?.claude;
  const told = {
    secrets: shownSecrets(record).files,
    failure: record.failure,
    usage,
    note,
    proposal: readProposal(record),
    outcome,
    files: files ?? null,
    imported,
    branches,
    tests: record.tests,
    sameAgent: sameAgent(record).map(({ id }) => id),
  };
  const facts = { id, project, stage, state, started, agentStatus, stoppedBecause, ...told };
  write(jsonText({ ...facts, changes, claude }));
}

function statusLines(record: SessionRecord, review: Review | undefined, nowMs: number): string[] {
  const { id, plan, agentMs, outcome, note, started, imported, branches = [] } = record;
  const usage = record.usage ?? readUsage(plan.sessionDir);
  const state = stateText(sessionFacts(record));
  const ran = [
    plan.mode,
    ...(plan.engine.on === undefined ? [] : [`on ${plan.engine.on}`]),
    ...(imported === undefined ? [] : [importedText(imported, nowMs)]),
    ...(agentMs === undefined ? [] : [durationText(agentMs)]),
    ...endText(record),
  ];
  const inPlace = isInPlace(record);
  const files = review === undefined || inPlace ? [] : fileProgress(review, outcome?.changes ?? []);
  const counts = countProgress(files);
  const isDecided = outcome !== undefined && outcome.changes.length > 0 && counts.total > 0;
  const isDiscarded = record.stage === 'discarded';
  const when = outcome && whenText(outcome.at, nowMs);
  return [
    `${id}  ${state}  ${whenText(started, nowMs)}  ${ran.join(', ')}`,
    `${cleanLine(record.project)}: ${cutEnd(cleanLine(programText(plan.program)), MAX_PROGRAM_COLUMNS)}`,
    ...extraFolderLines(record),
    ...failureLines(record),
    ...(note ? [`note: ${cleanLine(note)}`] : []),
    ...branches.map(branchText),
    ...shownSecrets(record).lines,
    ...proposalLines(record, nowMs),
    ...(usage !== undefined && usage.requests > 0 ? [usageLine(usage)] : []),
    ...shownTests(record),
    ...(review === undefined ? [] : shownLines(record, review).flatMap(({ text }) => text.split('\n'))),
    ...(review !== undefined && inPlace && review.items.length > 0 ? whereInPlaceLines(record, review) : []),
    ...(isDecided ? [progressLine(counts, when, isDiscarded)] : []),
    ...(isDecided && counts.left > 0 ? [...appliedLines(files), ...(isDiscarded ? [] : leftLines(files))] : []),
  ];
}

/** How its agent ended. A session of `up` has none. */
function endText(record: SessionRecord): string[] {
  const { agentStatus, stoppedBecause } = record;
  const why = stoppedBecause === undefined ? [] : [cleanLine(stoppedBecause)];
  if (isKept(record)) return why.map((text) => `ended: ${text}`);
  return [
    ...(agentStatus === undefined ? [] : [`agent ended with ${agentStatus}`]),
    ...why.map((text) => `stopped: ${text}`),
  ];
}

/** The sessions of the other folders that the same agent could write to (--also). */
function sameAgent(record: SessionRecord): readonly SessionRecord[] {
  try {
    const agents = agentSession(record);
    return [agents, ...extraFolderSessions(agents)].filter(({ id }) => id !== record.id);
  } catch (error) {
    // A damaged record of another session hides none of this one.
    if (error instanceof RunClaudeError) return [];
    throw error;
  }
}

function extraFolderLines(record: SessionRecord): string[] {
  return sameAgent(record).map(({ id, project }) => `same agent: session ${id} of ${cleanLine(project)}`);
}

/** Why the agent never ran, and what to do. */
function failureLines(record: SessionRecord): string[] {
  if (record.stage !== 'failed') return [];
  const { hint } = record.failure ?? {};
  const lines = [`no changes: it ${failureText(record)}`, ...(hint === undefined ? [] : [hint])];
  return lines.map((text) => cleanLine(text));
}

/** 'branch work at 0123456789, pushed to origin'. */
function branchText({ name, commit, pushedTo }: MadeBranch): string {
  const where = pushedTo === undefined ? '' : `, pushed to ${pushedTo}`;
  return cleanLine(`branch ${name} at ${commit.slice(0, 10)}${where}`);
}

/** A review that was asked for from inside. The summary is the agent's. */
function proposalLines(record: SessionRecord, nowMs: number): string[] {
  const proposal = readProposal(record);
  if (proposal === undefined) return [];
  const summary = cutEnd(cleanLine(proposal.summary), MAX_PROGRAM_COLUMNS);
  return [`a review was asked for ${whenText(proposal.at, nowMs)}: ${summary}`];
}

/** The status of a running session: the changes that are in its layer now. They are not frozen yet. */
async function runningStatus(
  record: SessionRecord,
  line: CommandLineOfCommand,
  context: CommandContext,
): Promise<number> {
  const { id, project, stage, started, workspace } = record;
  const usage = readUsage(record.plan.sessionDir);
  let live: LiveChanges = { changes: [], ignored: [] };
  // A bind session has no layer.
  if (workspace !== undefined) {
    const [{ readLiveChanges }, { openEngineOf }] = await Promise.all([
      import('../../session/later/follow.ts'),
      import('../engines/open-engine.ts'),
    ]);
    const engine = await openEngineOf(record.plan, context);
    try {
      live = await readLiveChanges(record, engine, context.tell);
    } finally {
      await engine.close();
    }
  }
  if (line.options.has('json')) {
    const changes = live.changes.map(({ path, kind, size }) => ({ path, kind, size }));
    const { ignored } = live;
    const secrets = shownSecrets(record).files;
    const proposal = readProposal(record);
    context.write(
      jsonText({
        id,
        project,
        stage,
        state: 'running',
        started,
        usage,
        proposal,
        secrets,
        files: null,
        changes,
        ignored,
      }),
    );
    return 0;
  }
  const counts = new Map<string, number>();
  for (const { kind } of live.changes) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const changed = [...counts].map(([kind, count]) => `${count} ${kind}`).join(', ');
  context.write(`${id}  ${stage}  since ${whenText(record.agentStarted ?? started, Date.now())}\n`);
  context.write(`${cleanLine(project)}: ${cutEnd(cleanLine(programText(record.plan.program)), MAX_PROGRAM_COLUMNS)}\n`);
  for (const text of [...extraFolderLines(record), ...proposalLines(record, Date.now())]) context.write(`${text}\n`);
  for (const text of shownSecrets(record).lines) context.write(`${text}\n`);
  if (workspace !== undefined) context.write(`so far: ${changed === '' ? 'no changes' : changed}\n`);
  for (const { directory, entries, bytes } of live.ignored) {
    context.write(`ignored: ${cleanLine(directory)} (${ignoredAmount(entries, bytes)})\n`);
  }
  if (usage !== undefined) context.write(`${usageLine(usage)}\n`);
  if (workspace !== undefined) context.write(`See each change as it happens: run-claude diff --follow ${id}\n`);
  if (isKept(record)) context.write(`End it and review: run-claude down ${id}\n`);
  else if (hasPlace(record.plan.sessionDir)) context.write(`Show it here: run-claude attach ${id}\n`);
  return 0;
}
