import { spawnSync } from '../programs/start-program.ts';
import { processFields } from './process-fields.ts';

/**
 * Whether this process is in the foreground of its terminal, as a shell decides it. False where that cannot be known, or
 * without a terminal.
 */
export function isInForeground(): boolean {
  const [group, foreground] = process.platform === 'linux' ? groupsOfProc() : groupsOfPs();
  return group !== undefined && group > 0 && group === foreground;
}

function groupsOfProc(): readonly number[] {
  try {
    const [, , group, , , foreground] = processFields('self');
    return [Number(group), Number(foreground)];
  } catch {
    return [];
  }
}

function groupsOfPs(): readonly number[] {
  const { stdout } = spawnSync('/bin/ps', ['-o', 'pgid=,tpgid=', '-p', String(process.pid)], { encoding: 'utf8' });
  return String(stdout ?? '')
    .trim()
    .split(/\s+/)
    .map(Number);
}
