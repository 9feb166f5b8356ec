import { readFileSync } from 'node:fs';

/**
 * The fields of proc_pid_stat(5) from the third one on, the state; `pid` may be 'self'. The second field is the name in
 * parentheses, which may have blanks and parentheses too.
 *
 * @throws {NodeJS.ErrnoException} where there is no such process, or no /proc
 */
export function processFields(pid: number | 'self'): readonly string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1').trim();
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}
