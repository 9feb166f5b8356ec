import { readFile } from 'node:fs/promises';
import { RunClaudeError } from '../errors.ts';

/** Beside src/ in the repository, beside dist/ in the package. */
const PROFILE = new URL('../../seccomp/profile.json', import.meta.url);

/**
 * Our seccomp profile as text for a ContainerSpec. It goes to the engine inline: a path would be read on the engine's
 * machine, or silently not at all.
 *
 * @throws RunClaudeError SECCOMP_MISSING when the file is absent or is no allowlist.
 */
export async function readSeccompProfile(file: URL = PROFILE): Promise<string> {
  const hint = 'reinstall run-claude; it does not start without its seccomp profile';
  try {
    const profile = JSON.parse(await readFile(file, 'utf8')) as { defaultAction?: string; syscalls?: unknown[] };
    if (profile.defaultAction === 'SCMP_ACT_ERRNO' && (profile.syscalls?.length ?? 0) > 0) {
      return JSON.stringify(profile);
    }
  } catch (error) {
    throw new RunClaudeError('SECCOMP_MISSING', 'the seccomp profile cannot be read', { hint, cause: error });
  }
  throw new RunClaudeError('SECCOMP_MISSING', 'the seccomp profile is not an allowlist', { hint });
}
