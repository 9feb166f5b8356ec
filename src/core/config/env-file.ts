import { usageError } from '../errors.ts';

/**
 * The assignments of a file of variables, as the words that `--env` takes. Quotes around a value are removed, and `export`
 * before a name; nothing is expanded. `where` names the file in messages, which never repeat a line: it may be a secret.
 *
 * @throws {RunClaudeError} USAGE for a line that is not an assignment
 */
export function readEnvFile(text: string, where: string): string[] {
  return text.split(/\r?\n/).flatMap((line, index) => {
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#')) return [];
    const match = /^(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)=(.*)$/.exec(trimmed);
    const [, name, raw = ''] = match ?? [];
    const value = /^'([^']*)'$/.exec(raw)?.[1] ?? /^"([^"]*)"$/.exec(raw)?.[1] ?? raw;
    if (name === undefined || value.includes('\0')) {
      throw usageError(`${where}, line ${index + 1}: not NAME=VALUE`, 'Write one assignment a line.');
    }
    return [`${name}=${value}`];
  });
}
