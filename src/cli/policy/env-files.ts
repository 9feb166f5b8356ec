import { realpathSync } from 'node:fs';
import path from 'node:path';
import { readEnvFile } from '../../core/config/env-file.ts';
import { usageError } from '../../core/errors.ts';
import { readSmallFile } from '../../core/host/files/small-file.ts';
import { pathIdentity } from '../../core/host/files/true-path.ts';
import { contains } from '../../session/plan/refuse-project.ts';

/**
 * The absolute path of a file of variables. A path of `config.toml` counts for every project: one relative to the folder
 * of a start would let each project choose the file.
 *
 * @throws {RunClaudeError} USAGE for a relative path of config.toml
 */
export function envFilePath(
  named: string,
  { cwd, env, isOfConfig }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv; readonly isOfConfig: boolean },
): string {
  const expanded = named.replace(/^~(?=\/)/, env['HOME'] ?? '~');
  if (isOfConfig && !path.isAbsolute(expanded))
    throw usageError(
      `config.toml: env-file: '${named}' is relative`,
      'Write an absolute path, or one that starts with ~/.',
    );
  return path.resolve(cwd, expanded);
}

/**
 * The variables of a file, as words for `--env`; undefined where there is none. In the project, no link is followed: the
 * project would choose the file.
 *
 * @throws {RunClaudeError} USAGE for a file that cannot be read, and for a line that is not an assignment
 */
export function readVariables(file: string, root: string, named: string = file): string[] | undefined {
  const folder = path.dirname(file);
  const isRealInside = contains(root, realFolder(folder), pathIdentity);
  if (contains(root, folder, pathIdentity) && !isRealInside)
    throw usageError(`--env-file: ${named} is behind a link of the project`, 'Name the file itself.');
  const text = readSmallFile(file, isRealInside ? 'refuse' : 'follow');
  return text === undefined ? undefined : readEnvFile(text, named);
}

/**
 * The values of the files that a session was started with. Its record has none of them; `absent` are files that no longer
 * exist.
 *
 * @throws {RunClaudeError} USAGE as readVariables
 */
export function readRecordedFiles(
  files: readonly string[],
  root: string,
): { readonly values: Readonly<Record<string, string>>; readonly absent: readonly string[] } {
  // A record of an earlier release has relative paths: no later command knows the folder.
  const read = files.map((file) => ({ file, words: path.isAbsolute(file) ? readVariables(file, root) : undefined }));
  return {
    values: variablesOf(read.flatMap(({ words }) => words ?? [])),
    absent: read.filter(({ words }) => words === undefined).map(({ file }) => file),
  };
}

/** The values of words `NAME=VALUE` by name; the last one counts. */
export function variablesOf(words: readonly string[]): Record<string, string> {
  return Object.fromEntries(words.map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]));
}

/** The real path of a folder; as it is written where there is none. */
function realFolder(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}
