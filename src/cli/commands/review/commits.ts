import { realpathSync } from 'node:fs';
import { EXIT, usageError } from '../../../core/errors.ts';
import { jsonText } from '../../../core/report/json.ts';
import type { SessionRecord } from '../../../core/types/session.ts';
import type { CommitFinding, RepositoryCommits } from '../../../review/commits/audit/audit-commits.ts';
import type { LeftRefs } from '../../../review/commits/import-commits.ts';
import { type CommitFacts, readCommits } from '../../../review/commits/read-commits.ts';
import { gitWords } from '../../../review/commits/taken-twice.ts';
import { importCommand } from '../../../review/screen/commit-lines.ts';
import { groupFindings, groupLine, tellLines } from '../../../review/screen/finding-lines.ts';
import { allowOptions } from '../../../review/screen/outcome-lines.ts';
import { auditSessionCommits, fetchCommits, recordImported } from '../../../session/later/session-commits.ts';
import { requireWork } from '../../../session/record/require-usable.ts';
import { sessionDeps, type UserDeps } from '../../../session/stage/deps.ts';
import { askYesNo } from '../../../terminal/ask.ts';
import { cleanLine } from '../../../terminal/clean.ts';
import { type CommandRun, optionValue } from '../../context/context.ts';
import { openEngineOf } from '../../engines/open-engine.ts';
import { withSession } from '../../sessions/open-session.ts';
import { importQuestion } from './questions.ts';
import { planBranches, repositorySuffix, takeCommits } from './take-commits.ts';

/**
 * `commits [ID]`: the commits of a session, with the findings of each. `--import` imports them as refs under run-claude's
 * own prefix, and `--branch` also makes a branch of one. Exit 121 when they are held back.
 */
export const commitsCommand: CommandRun = (line, context) =>
  withSession(line, context, 'commits', async (record, deps) => {
    for (const name of ['branch', 'allow-suspect']) {
      if (line.options.has(name) && !line.options.has('import')) throw usageError(`--${name} needs --import`);
    }
    requireWork(record);
    const engine = await openEngineOf(record.plan, context);
    try {
      using session = await fetchCommits(record, sessionDeps(deps, engine, context.env), line.options.get('only'));
      const { made } = session;
      const { policy } = record.plan;
      const allowSuspect = [...policy.allowSuspect, ...(line.options.get('allow-suspect') ?? [])];
      const findings = await auditSessionCommits(
        session,
        record,
        { ...policy, allowSuspect },
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
      const branches = planBranches(made, optionValue(line, 'branch'));
      const blocked = new Set(findings.flatMap((one) => (one.finding.severity === 'blocked' ? [one.repository] : [])));
      if (blocked.size > 0) {
        tellBlocked(
          recordImported(record, made, (path) => (blocked.has(path) ? 'refused' : undefined)),
          deps,
        );
        return EXIT.heldBack;
      }
      if (!(await mayImport(findings, deps))) return EXIT.heldBack;
      const git = gitWords(record.project, realpathSync(context.cwd));
      await takeCommits({ record, made, branches, git }, deps);
      recordImported(record, made, () => 'imported');
      return EXIT.ok;
    } finally {
      await engine.close();
    }
  });

interface ListedRepository extends RepositoryCommits {
  readonly commits: readonly CommitFacts[];
}

const MAX_REFS_NAMED = 10;

/** 'Not brought along in lib: tag v1, the stash' */
function leftLine({ repository, names }: LeftRefs): string {
  const more = names.length - MAX_REFS_NAMED;
  const shown = names.slice(0, MAX_REFS_NAMED).map((name) => cleanLine(name));
  return `Not brought along${repositorySuffix(repository.path)}: ${[...shown, ...(more > 0 ? [`${more} more`] : [])].join(', ')}`;
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
  const { groups, more } = groupFindings(
    findings,
    ({ finding }) => finding,
    ({ commit, finding }) => `${commit} ${finding.path}`,
  );
  for (const group of groups) {
    const { text, severity } = groupLine(group.map(({ finding }) => finding));
    const plain = text.replace(/^WARNING: /, '');
    tellLines([{ text: `commit ${group[0]?.commit.slice(0, 10)}: ${plain}`, severity }], tell);
  }
  for (const { one, count } of more) {
    const { title, severity } = one.finding;
    tell({ kind: 'finding', severity, text: `${cleanLine(title)}: ${count} more (--json lists them all)` });
  }
}

/** Why nothing was imported, and what can be taken all the same. */
function tellBlocked({ id, plan, commits = [] }: SessionRecord, { tell }: UserDeps): void {
  const say = (text: string): void => tell({ kind: 'message', level: 'info', text });
  say('Nothing was imported: a change in a commit is blocked, so none of the commits is imported.');
  const others = importCommand(id, commits);
  if (others !== undefined) say(`To take the commits of the other repositories: ${others}`);
  if (plan.mode === 'copy') say(`To take the session's files without its commits: run-claude apply ${id}`);
}

/** Whether the user accepts suspect changes: by a yes, or by --allow-suspect. */
async function mayImport(findings: readonly CommitFinding[], { screen, tell }: UserDeps): Promise<boolean> {
  const say = (text: string): void => tell({ kind: 'message', level: 'info', text });
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
