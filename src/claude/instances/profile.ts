import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { RunClaudeError, usageError } from '../../errors.ts';

/**
 * The directory of a named profile: settings, plugins, skills and the like of its own, laid out like ~/.claude.
 * Throws RunClaudeError USAGE for a bad name, PROFILE_MISSING when there is none.
 */
export function profileDir(ownConfigDir: string, name: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name))
    throw usageError(`'${name}' is no name for a profile`, 'Use letters, digits, dots and dashes.');
  const dir = join(ownConfigDir, 'profiles', name);
  if (!existsSync(dir))
    throw new RunClaudeError('PROFILE_MISSING', `there is no profile '${name}'`, {
      status: 2,
      hint: `Make ${dir} with what it should hold: settings.json, CLAUDE.md, skills/, plugins/.`,
    });
  return dir;
}
