import { usageError } from '../errors.ts';
import type { Policy } from '../types/policy.ts';
import { readConfigFile } from './config-file.ts';
import { projectKey } from './project-key.ts';

/**
 * The text of the user's configuration file with the mode of a project, after everything that is there. Unchanged where it
 * names the mode of the project already.
 *
 * @throws {RunClaudeError} USAGE for a file that cannot be read, and for a path that it cannot hold.
 */
export function withProjectMode(text: string, root: string, mode: Policy['mode'], where: string): string {
  const table = readConfigFile(text, where).projects.get(root);
  if (table?.mode !== undefined) return text;
  const key = projectKey(root);
  const gap = text === '' || text.endsWith('\n\n') ? '' : text.endsWith('\n') ? '\n' : '\n\n';
  const row = `mode = "${mode}"`;
  const added =
    table === undefined
      ? `${text}${gap}${key}\n${row}\n`
      : text.replace(/^.*$/gm, (line) => (line.trim() === key ? `${line}\n${row}` : line));
  if (readConfigFile(added, where).projects.get(root)?.mode !== mode)
    throw usageError(`${where}: the path of the project cannot be written there`, 'Choose by --copy or --bind.');
  return added;
}
