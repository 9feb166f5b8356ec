import type { ReceivedBranch, ReceivedCommits } from '../../../commits/import-commits.ts';
import { type BranchMove, makeBranch, moveBranch, planBranch, planMove } from '../../../commits/move-branch.ts';
import { type CommitFacts, readCommits } from '../../../commits/read-commits.ts';
import { isAheadOfHead, isPartOfHead, joinAdvice } from '../../../commits/taken-twice.ts';
import { EXIT, usageError } from '../../../errors.ts';
import { jsonText } from '../../../report/json.ts';
import {
  auditCommits,
  type CommitFinding,
  fetchCommits,
  hasAppliedFiles,
  lackedBy,
} from '../../../session/later/session-commits.ts';
import { sessionDeps, type UserDeps } from '../../../session/start/deps.ts';
import { askLine, isYes, waitForSilence } from '../../../terminal/ask.ts';
import { cleanLine } from '../../../terminal/clean.ts';
import { allowOptions } from '../../../terminal/review/outcome-lines.ts';
import { findingLine, firstPerKind } from '../../../terminal/review/summary.ts';
import type { SessionRecord } from '../../../types/session.ts';
import { type CommandRun, optionValue } from '../../context/context.ts';
import { openEngineOf } from '../../context/open-engine.ts';
import { withSession } from '../../context/open-session.ts';

/**
 * `commits [ID]`: the commits of a session, with the findings of each. `--import` imports them as refs under run-claude's
 * own prefix, and `--branch` also makes a branch of one. Exit 121 when they are held back.
 */
export const commitsCommand: CommandRun = (line, context) =>
  withSession(line, context, 'decide', async (record, deps) => {
    for (const name of ['branch', 'allow-suspect']) {
      if (line.options.has(name) && !line.options.has('import')) throw usageError(`--${name} needs --import`);
    }
    const engine = await openEngineOf(record.plan, context);
    try {
      using received = await fetchCommits(record, sessionDeps(deps, engine, context.env));
      const commits = received === undefined ? [] : readCommits(received);
      const { policy } = record.plan;
      const allowSuspect = [...policy.allowSuspect, ...(line.options.get('allow-suspect') ?? [])];
      const stop = deps.interruption.signal;
      const findings =
        received === undefined ? [] : await auditCommits(received, { ...policy, allowSuspect }, stop, lackedBy(record));
      const json = line.options.has('json');
      const branches = received?.branches ?? [];
      if (json) context.write(jsonText({ branches, commits, findings }));
      else for (const text of listing(branches, commits)) context.write(`${text}\n`);
      if (received === undefined) {
        deps.tell({
          kind: 'message',
          level: 'info',
          text: 'The session has no commits that the project lacks.',
        });
        return EXIT.ok;
      }
      tellFindings(findings, deps);
      if (!line.options.has('import')) return EXIT.ok;
      const asked = optionValue(line, 'branch');
      const hasFiles = hasAppliedFiles(record);
      const from = asked === undefined ? undefined : planBranch(record.project, asked, received.branches);
      if (!(await mayImport(findings, record.id, deps))) return EXIT.heldBack;
      received.import();
      if (asked === undefined || from === undefined) await offerMoves(received, deps, { record, hasFiles });
      else {
        makeBranch(record.project, asked, from);
        deps.tell({ kind: 'message', level: 'info', text: `Made branch ${asked} at ${from.commit.slice(0, 10)}.` });
        if (hasFiles) tellJoin(record, asked, isAheadOfHead(record.project, from.commit), deps);
      }
      return EXIT.ok;
    } finally {
      await engine.close();
    }
  });

function listing(branches: readonly ReceivedBranch[], commits: readonly CommitFacts[]): string[] {
  const short = (id: string): string => id.slice(0, 10);
  return [
    ...branches.map(({ branch, commit, ref }) => `${short(commit)}  ${cleanLine(branch)}  (${cleanLine(ref)})`),
    ...commits.toReversed().map(({ id, date, author, subject }) => {
      return `${short(id)}  ${cleanLine(date.slice(0, 10))}  ${cleanLine(author)}  ${cleanLine(subject)}`;
    }),
  ];
}

function tellFindings(findings: readonly CommitFinding[], { tell }: UserDeps): void {
  const { shown, more } = firstPerKind(findings, ({ finding }) => `${finding.severity} ${finding.title}`);
  for (const { commit, finding } of shown) {
    const text = `commit ${commit.slice(0, 10)}: ${findingLine(finding).text.replace(/^WARNING: /, '')}`;
    tell({ kind: 'finding', severity: finding.severity, text });
  }
  for (const { one, count } of more) {
    const { title, severity } = one.finding;
    tell({ kind: 'finding', severity, text: `${cleanLine(title)}: ${count} more (--json lists them all)` });
  }
}

/** Whether the user accepts the findings. Blocked: never. Suspect: by a yes, or by --allow-suspect. */
async function mayImport(findings: readonly CommitFinding[], id: string, { screen, tell }: UserDeps): Promise<boolean> {
  const say = (text: string): void => tell({ kind: 'message', level: 'info', text });
  if (findings.some(({ finding }) => finding.severity === 'blocked')) {
    say('Nothing was imported: a change in a commit is blocked, so none of the commits is imported.');
    say(`To take the session's files without its commits: run-claude apply ${id}`);
    return false;
  }
  const suspect = findings.filter(({ finding }) => finding.severity === 'suspect');
  if (suspect.length === 0) return true;
  const changes = `${suspect.length} suspect ${suspect.length === 1 ? 'change' : 'changes'}`;
  // Input from before the question must not count as its answer.
  const isAsked = screen !== undefined && (await waitForSilence(screen));
  const answer = isAsked ? await askLine(screen, `[sandbox] Import these commits with ${changes}? [y/N]:`) : undefined;
  if (isYes(answer)) return true;
  if (isAsked) say('Nothing was imported.');
  else {
    const options = allowOptions(suspect.map(({ finding }) => finding.path));
    say(
      `Nothing was imported: ${changes} ${suspect.length === 1 ? 'needs' : 'need'} a yes, on a terminal or with: commits --import ${options}`,
    );
  }
  return false;
}

/** How to join commits with the session's files, which the project has already. */
function tellJoin(record: SessionRecord, name: string, canMove: boolean, { tell }: UserDeps): void {
  const canUndo = record.plan.mode !== 'bind';
  for (const text of joinAdvice({ sessionId: record.id, name: cleanLine(name), canMove, canUndo }))
    tell({ kind: 'message', level: 'info', text });
}

interface Moving {
  readonly record: SessionRecord;
  /** Whether the project has the session's files already. */
  readonly hasFiles: boolean;
}

async function offerMoves(received: ReceivedCommits, deps: UserDeps, { record, hasFiles }: Moving): Promise<void> {
  const { screen, tell } = deps;
  const { project } = record;
  const say = (text: string): void => tell({ kind: 'message', level: 'info', text });
  for (const branch of received.branches) {
    say(`Imported ${cleanLine(branch.ref)}`);
    const move = planMove(project, branch);
    if ('why' in move) {
      say(`Branch ${cleanLine(branch.branch)} was not moved: ${move.why}`);
      if (hasFiles && !isPartOfHead(project, branch.commit))
        tellJoin(record, branch.ref, isAheadOfHead(project, branch.commit), deps);
    } else if (screen === undefined) {
      say(`To move ${cleanLine(branch.branch)} there: ${byHand(move, hasFiles)}`);
    } else if (isYes(await askLine(screen, moveQuestion(move)))) {
      moveBranch(project, move);
      say(`Moved ${cleanLine(branch.branch)} from ${move.from.slice(0, 10)} to ${move.to.slice(0, 10)}.`);
    } else say(`Branch ${cleanLine(move.branch)} was not moved. To move it later: ${byHand(move, hasFiles)}`);
  }
}

/** The command that moves the branch by hand. git would refuse to merge over files that were applied already. */
function byHand({ branch, ref, checkedOut }: BranchMove, hasFiles: boolean): string {
  const there = cleanLine(ref);
  if (!checkedOut) return `git fetch . ${there}:${cleanLine(branch)}`;
  return hasFiles
    ? `git reset ${there} (the session's files are in your project already: git does not merge over them)`
    : `git merge --ff-only ${there}`;
}

function moveQuestion({ branch, from, to, commits, checkedOut }: BranchMove): string {
  const what = `${commits} ${commits === 1 ? 'commit' : 'commits'}`;
  const files = checkedOut ? '; your files stay as they are' : '';
  return `[sandbox] Move ${cleanLine(branch)} forward by ${what}, ${from.slice(0, 10)} to ${to.slice(0, 10)}${files}? [y/N]:`;
}
