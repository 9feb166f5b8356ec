import { execFileSync } from '../programs/start-program.ts';
import { processFields } from './process-fields.ts';

/** Linux counts processor time for programs in hundredths of a second, whatever its clock. */
const LINUX_TICK_MS = 10;

/** The processor time that a process has used, in milliseconds; undefined where the system does not tell. */
export function processorTimeMs(pid: number, platform: NodeJS.Platform = process.platform): number | undefined {
  try {
    if (platform === 'linux') return fromFields(processFields(pid));
    const env = { ...process.env, LC_ALL: 'C' };
    return fromPs(
      execFileSync('ps', ['-o', 'time=', '-p', String(pid)], { cwd: '/', encoding: 'utf8', env, stdio: 'pipe' }),
    );
  } catch {
    return undefined;
  }
}

/** utime and stime of proc_pid_stat(5). */
function fromFields(fields: readonly string[]): number | undefined {
  const ticks = Number(fields[11]) + Number(fields[12]);
  return Number.isFinite(ticks) ? ticks * LINUX_TICK_MS : undefined;
}

/** `1:02:03.45` or `2:03.45`. */
export function fromPs(time: string): number | undefined {
  const parts = time.trim().split(':').map(Number);
  const seconds = parts.reduce((sum, part) => sum * 60 + part, 0);
  return time.trim() !== '' && Number.isFinite(seconds) ? seconds * 1000 : undefined;
}
