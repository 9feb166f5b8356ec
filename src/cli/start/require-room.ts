import { RunClaudeError } from '../../core/errors.ts';
import { freeDiskMb } from '../../core/host/facts.ts';
import { MIN_START_MB } from '../../core/text/disk-room.ts';
import type { Policy } from '../../core/types/policy.ts';

interface Directories {
  readonly stateDir: string;
  readonly cacheDir: string;
}

/**
 * Refuses a start where `doctor` reports a full disk: what an agent does could not be collected afterwards.
 *
 * @throws {RunClaudeError} DISK_FULL.
 */
export function requireRoom({ mode }: Pick<Policy, 'mode'>, { stateDir, cacheDir }: Directories): void {
  // Bind mode makes no copy.
  for (const dir of mode === 'bind' ? [stateDir] : [stateDir, cacheDir]) {
    const free = freeDiskMb(dir);
    if (free >= MIN_START_MB) continue;
    throw new RunClaudeError('DISK_FULL', `${free} MB are free in ${dir}, and a session needs ${MIN_START_MB} MB`, {
      hint: 'Free some space: run-claude gc removes what no session needs, run-claude discard ID a session.',
    });
  }
}
