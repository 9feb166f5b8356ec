import type { ReceivedBranch } from '../../../commits/import-commits.ts';
import { type BranchMove, makeBranch, moveBranch, planBranch, planMove } from '../../../commits/move-branch.ts';
import type { LeftRefs } from '../../../commits/other-refs.ts';
import { type CommitFacts, readCommits } from '../../../commits/read-commits.ts';
import type { Repository } from '../../../commits/repositories.ts';
import { isAheadOfHead, isPartOfHead, joinAdvice } from '../../../commits/taken-twice.ts';
import { EXIT, RunClaudeError, usageError } from '../../../errors.ts';
import { jsonText } from '../../../report/json.ts';
import { auditSessionCommits, type CommitFinding } from '../../../session/later/audit-commits.ts';
import {
  fetchCommits,
  hasAppliedFiles,
  lackedBy,
  type RepositoryCommits,
} from '../../../session/later/session-commits.ts';
import { sessionDeps, type UserDeps } from '../../../session/start/deps.ts';
import { askYesNo } from '../../../terminal/ask.ts';
import { cleanLine } from '../../../terminal/clean.ts';
import { allowOptions } from '../../../terminal/review/outcome-lines.ts';
import { findingLine, firstPerKind } from '../../../terminal/review/summary.ts';
import type { SessionRecord } from '../../../types/session.ts';
import { type CommandRun, optionValue } from '../../context/context.ts';
import { openEngineOf } from '../../context/open-engine.ts';
import { withSession } from '../../context/open-session.ts';
import { type BranchMoveWords, importQuestion, moveQuestion } from './questions.ts';

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
      using session = await fetchCommits(record, sessionDeps(deps, engine, context.env), line.options.get('only'));
      const { made } = session;
      const { policy } = record.plan;
      const allowSuspect = [...policy.allowSuspect, ...(line.options.get('allow-suspect') ?? [])];
      const findings = await auditSessionCommits(
        session,
        { ...policy, allowSuspect },
        lackedBy(record),
        deps.interruption.signal,
      );
      const listed = made.map((one) => ({ ...one, commits: readCommits(one.received) }));
      if (line.options.has('json')) context.write(jsonText(asJson(listed, findings)));
      else for (const one of listed) for (const text of listing(one, made.length)) context.write(`${text}\n`);
      for (const text of session.left.map(leftLine)) deps.tell({ kind: 'message', level: 'info', text });
      if (made.length === 0) {
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
      const branches = asked === undefined ? [] : made.map((one) => ({ ...one, from: planBranchIn(one, asked) }));
      if (!(await mayImport(findings, record.id, deps))) return EXIT.heldBack;
      // Submodules first: a commit above them never names one that is not there yet.
      for (const { received, lfs } of made) {
        lfs.import();
        received.import();
      }
      for (const { repository, from } of branches) {
        makeBranch(repository.place, asked as string, from);
        const text = `Made branch ${asked}${inRepository(repository)} at ${from.commit.slice(0, 10)}.`;
        deps.tell({ kind: 'message', level: 'info', text });
        if (hasFiles) tellJoin(record, asked as string, isAheadOfHead(repository.place, from.commit), deps);
      }
      if (asked === undefined) for (const one of made) await offerMoves(one, deps, { record, hasFiles });
      return EXIT.ok;
    } finally {
      await engine.close();
    }
  });

interface ListedRepository extends RepositoryCommits {
  readonly commits: readonly CommitFacts[];
}

/** ' in lib' for a repository besides the project's own. */
function inRepository({ path }: Repository): string {
  return path === '' ? '' : ` in ${cleanLine(path)}`;
}

function planBranchIn({ repository, received }: RepositoryCommits, name: string): ReceivedBranch {
  try {
    return planBranch(repository.place, name, received.branches);
  } catch (error) {
    if (!(error instanceof RunClaudeError) || repository.path === '') throw error;
    const { code, message, hint, status } = error;
    const own = `${hint ?? ''} Or import the repositories one by one: --only ${repository.path}`;
    throw new RunClaudeError(code, `${cleanLine(repository.path)}: ${message}`, { status, cause: error, hint: own });
  }
}

const MAX_REFS_NAMED = 10;

/** 'Not brought along in lib: tag v1, the stash' */
function leftLine({ repository, names }: LeftRefs): string {
  const more = names.length - MAX_REFS_NAMED;
  const shown = names.slice(0, MAX_REFS_NAMED).map((name) => cleanLine(name));
  return `Not brought along${inRepository(repository)}: ${[...shown, ...(more > 0 ? [`${more} more`] : [])].join(', ')}`;
}

/** '.' is the project's own repository. */
const nameOf = (path: string): string => (path === '' ? '.' : path);

function asJson(listed: readonly ListedRepository[], findings: readonly CommitFinding[]): object {
  const named = <One extends object>({ repository: { path } }: ListedRepository, list: readonly One[]): object[] =>
    list.map((one) => ({ ...one, repository: nameOf(path) }));
  return {
    branches: listed.flatMap((one) => named(one, one.received.branches)),
    commits: listed.flatMap((one) => named(one, one.commits)),
    findings: findings.map((one) => ({ ...one, repository: nameOf(one.repository) })),
  };
}

function listing({ repository, received, commits }: ListedRepository, repositories: number): string[] {
  const short = (id: string): string => id.slice(0, 10);
  const isNamed = repository.path !== '' || repositories > 1;
  return [
    ...(isNamed ? [`${cleanLine(nameOf(repository.path))}:`] : []),
    ...received.branches.map(
      ({ branch, commit, ref }) => `${short(commit)}  ${cleanLine(branch)}  (${cleanLine(ref)})`,
    ),
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
  if (screen !== undefined) {
    if (await askYesNo(screen, importQuestion(changes))) return true;
    say('Nothing was imported.');
  } else {
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

async function offerMoves(
  { repository, received }: RepositoryCommits,
  deps: UserDeps,
  { record, hasFiles }: Moving,
): Promise<void> {
  const { screen, tell } = deps;
  const say = (text: string): void => tell({ kind: 'message', level: 'info', text });
  const where = inRepository(repository);
  for (const branch of received.branches) {
    say(`Imported ${cleanLine(branch.ref)}${where}`);
    const move = planMove(repository.place, branch);
    const name = `${cleanLine(branch.branch)}${where}`;
    if ('why' in move) {
      say(`Branch ${name} was not moved: ${move.why}`);
      if (hasFiles && !isPartOfHead(repository.place, branch.commit))
        tellJoin(record, branch.ref, isAheadOfHead(repository.place, branch.commit), deps);
    } else if (screen === undefined) {
      say(`To move ${name} there: ${byHand(move, repository, hasFiles)}`);
    } else if (await askYesNo(screen, moveQuestion(moveWords(move, where)))) {
      moveBranch(repository.place, move);
      say(`Moved ${name} from ${move.from.slice(0, 10)} to ${move.to.slice(0, 10)}.`);
    } else say(`Branch ${name} was not moved. To move it later: ${byHand(move, repository, hasFiles)}`);
  }
}

/** The command that moves the branch by hand. git would refuse to merge over files that were applied already. */
function byHand({ branch, ref, checkedOut }: BranchMove, { path }: Repository, hasFiles: boolean): string {
  const there = cleanLine(ref);
  const git = path === '' ? 'git' : `git -C ${/^[\w.@+/-]+$/.test(path) ? path : 'REPOSITORY'}`;
  if (!checkedOut) return `${git} fetch . ${there}:${cleanLine(branch)}`;
  return hasFiles
    ? `${git} reset ${there} (the session's files are in your project already: git does not merge over them)`
    : `${git} merge --ff-only ${there}`;
}

function moveWords({ branch, from, to, commits, checkedOut }: BranchMove, where: string): BranchMoveWords {
  return {
    branch: `${cleanLine(branch)}${where}`,
    commits: `${commits} ${commits === 1 ? 'commit' : 'commits'}`,
    from: from.slice(0, 10),
    to: to.slice(0, 10),
    checkedOut,
  };
}
