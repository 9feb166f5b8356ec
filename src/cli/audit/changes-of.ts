import { statSync } from 'node:fs';
import path from 'node:path';
import { RunClaudeError, usageError } from '../../core/errors.ts';
import { openGitObjects } from '../../review/commits/git-objects.ts';
import type { CommandContext } from '../context/context.ts';
import { optionValue } from '../context/context.ts';
import type { CommandLineOfCommand } from '../grammar/parse-command-line.ts';

/** What a command line asks to audit. */
export type AskedChanges =
  | { readonly kind: 'session'; readonly id: string | undefined }
  | {
      readonly kind: 'commits';
      readonly folder: string;
      readonly ends: readonly [from: string, to: string] | undefined;
    }
  | { readonly kind: 'staged'; readonly folder: string }
  | { readonly kind: 'pushed'; readonly folder: string; readonly remote: string | undefined }
  | { readonly kind: 'pull-request'; readonly folder: string; readonly named: string }
  | { readonly kind: 'patch'; readonly folder: string; readonly file: string };

/** Options of which a command line has one at most: each names what is audited. */
const EXCLUSIVE = ['base', 'staged', 'pre-push', 'pr'] as const;

/**
 * What the words and options of `audit` name. A folder is the repository; a commit, a range, a patch file, `-` and the id of
 * a session are what is audited in it.
 *
 * @throws {RunClaudeError} USAGE for two that exclude each other
 */
export async function askedChanges(
  line: CommandLineOfCommand,
  { cwd, env }: Pick<CommandContext, 'cwd' | 'env'>,
): Promise<AskedChanges> {
  const given = EXCLUSIVE.filter((name) => line.options.has(name));
  if (given.length > 1)
    throw usageError(`--${given[0]} and --${given[1]} exclude each other`, 'Leave one of them out.');
  const [named] = given;
  if (line.options.has('post') && named !== 'pr') throw usageError('--post needs --pr', 'Name the pull request.');
  if (line.options.has('write-baseline') && (named === 'pr' || named === 'pre-push'))
    throw usageError(
      `--write-baseline and --${named} exclude each other`,
      'Use it with --base REF, in your work tree.',
    );
  if (named === 'pre-push') return { kind: 'pushed', folder: cwd, remote: line.words[0] };
  const [first, second] = line.words;
  const isFolder = first !== undefined && first !== '-' && isKind(path.resolve(cwd, first), 'directory');
  const folder = isFolder ? path.resolve(cwd, first) : cwd;
  const what = isFolder ? second : first;
  if (!isFolder && second !== undefined)
    throw usageError(`no such folder: '${first}'`, 'Write the folder of the repository first.');
  if (named !== undefined && what !== undefined)
    throw usageError(`--${named} and ${what} exclude each other`, 'Leave one of them out.');
  if (named === 'pr') return { kind: 'pull-request', folder, named: optionValue(line, 'pr') ?? '' };
  if (named === 'staged') return { kind: 'staged', folder };
  const range = optionValue(line, 'base');
  if (range !== undefined) return { kind: 'commits', folder, ends: endsOfWord(range, 'since') };
  if (what === undefined)
    return isFolder ? { kind: 'commits', folder, ends: undefined } : { kind: 'session', id: what };
  if (what === '-') return { kind: 'patch', folder, file: '-' };
  if (await isCommit(what, folder, env)) return { kind: 'commits', folder, ends: endsOfWord(what, 'until') };
  if (isKind(path.resolve(cwd, what), 'file')) return { kind: 'patch', folder, file: path.resolve(cwd, what) };
  if (/.\.\.|\.\../.test(what)) return { kind: 'commits', folder, ends: endsOfWord(what, 'until') };
  if (isFolder) throw usageError(`'${what}' is neither a commit of ${folder} nor a patch file`, 'See git branch -a.');
  return { kind: 'session', id: what };
}

/** `A..B` names both ends. One name is the base after --base, and what is audited as a word. */
function endsOfWord(word: string, as: 'since' | 'until'): readonly [string, string] {
  const [from = '', to] = word.split(/\.{2,3}/);
  if (to === undefined) return as === 'since' ? [word, 'HEAD'] : ['HEAD', word];
  return [from === '' ? 'HEAD' : from, to === '' ? 'HEAD' : to];
}

async function isCommit(word: string, folder: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  try {
    await openGitObjects(folder, env).commit(word);
    return true;
  } catch (error) {
    if (error instanceof RunClaudeError && error.code === 'USAGE') return false;
    throw error;
  }
}

function isKind(file: string, kind: 'directory' | 'file'): boolean {
  const stat = statSync(file, { throwIfNoEntry: false });
  // A FIFO of a shell, `<(git diff)`, is read like a file.
  return kind === 'directory' ? stat?.isDirectory() === true : stat !== undefined && !stat.isDirectory();
}
