import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { RunClaudeError, usageError } from '../../../core/errors.ts';

/**
 * The directory of a named profile: its own settings, plugins, skills and so on, laid out like ~/.claude.
 *
 * @throws {RunClaudeError} USAGE for an invalid name, PROFILE_MISSING when there is no such profile
 */
export function profileDir(ownConfigDir: string, name: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name))
    throw usageError(`'${name}' is not a valid name of a profile`, 'Use letters, digits, dots and dashes.');
  const dir = join(ownConfigDir, 'profiles', name);
  if (!existsSync(dir))
    throw new RunClaudeError('PROFILE_MISSING', `there is no profile '${name}'`, {
      status: 2,
      hint: `Make ${dir} with its content: settings.json, CLAUDE.md, skills/, plugins/.`,
    });
  return dir;
}
