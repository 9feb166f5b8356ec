import { RunClaudeError } from '../../../core/errors.ts';
import { shellWord } from '../../../core/text/shell-word.ts';
import type { MadeBranch, SessionRecord } from '../../../core/types/session.ts';
import { bodyOf, type Published, titleOf } from '../../../review/publish/pull-request-text.ts';
import { openPullRequest, pushBranch, unpushedBelow } from '../../../review/publish/push.ts';
import { cleanLine } from '../../../terminal/clean.ts';
import { updateRecord } from '../../record/session.ts';

interface Publishing {
  readonly remote: string;
  /** The base of a pull request, '' for the repository's default; undefined where none is asked for. */
  readonly pr: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly tell: (text: string) => void;
}

/**
 * Pushes the branch that a session's apply made last, and opens a pull request where that was asked for.
 *
 * @throws {RunClaudeError} what git and gh throw, with a hint how to go on or back.
 */
export async function publishBranch(
  record: SessionRecord,
  made: MadeBranch,
  text: Published,
  { remote, pr, env, tell }: Publishing,
): Promise<void> {
  const { root } = record.plan.project;
  const { name, commit } = made;
  const others = unpushedBelow(root, commit, remote);
  if (others > 0)
    tell(
      `${others} ${others === 1 ? 'commit' : 'commits'} of yours that ${remote} lacks ${others === 1 ? 'is' : 'are'} pushed with it.`,
    );
  const base = pr ? ` --base=${shellWord(pr)}` : '';
  const create = `gh pr create --head=${name}${base}`;
  const next = `git push ${remote} ${name}${pr === undefined ? '' : `, then ${create}`}`;
  await withNext(pushBranch(root, env, { remote, name, commit }), `Branch ${name} is made. Push it`, next, record);
  updateRecord(record, { branches: [...(record.branches ?? []).slice(0, -1), { ...made, pushedTo: remote }] });
  tell(`Pushed branch ${name} to ${remote}.`);
  if (pr === undefined) return;
  const request = { name, base: pr || undefined, title: titleOf(text), body: bodyOf(text) };
  const opened = openPullRequest(root, env, request);
  const address = await withNext(opened, `Branch ${name} is made and pushed. Open the pull request`, create, record);
  tell(`Opened a pull request: ${cleanLine(address)}`);
}

/** A failure after the branch was made says that, and how to go on or back. */
async function withNext<T>(doing: Promise<T>, state: string, next: string, { id }: SessionRecord): Promise<T> {
  try {
    return await doing;
  } catch (error) {
    if (!(error instanceof RunClaudeError)) throw error;
    const { code, message, status } = error;
    const hint = `${state} with: ${next}. Or delete it with: run-claude undo ${id}`;
    throw new RunClaudeError(code, message, { status, cause: error, hint });
  }
}
