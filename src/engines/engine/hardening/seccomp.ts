import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { RunClaudeError } from '../../../core/errors.ts';
import { packageRoot } from '../../../core/host/package.ts';

/** The profile of every container of a session. */
export const SECCOMP_FILE: string = path.join(packageRoot, 'seccomp/profile.json');

/**
 * The seccomp profile as text for a ContainerSpec. The engine gets it inline, because it would read a path on its own
 * machine. Podman accepts only a path, and gets this file's.
 *
 * @throws RunClaudeError SECCOMP_MISSING when the file is absent or is not an allowlist.
 */
export async function readSeccompProfile(file: URL | string = SECCOMP_FILE): Promise<string> {
  const hint = 'Reinstall run-claude; it does not start without its seccomp profile.';
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
