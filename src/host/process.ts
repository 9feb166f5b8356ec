import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import type { ProcessIdentity } from '../types/session.ts';

/** The identity of this process, which a later command can check: no other process of this boot has all four values. */
export function processIdentity(): ProcessIdentity {
  return { pid: process.pid, started: startTime(process.pid) ?? 'unknown', bootId: bootId(), host: hostId() };
}

/**
 * Whether the process still runs. The result that it has ended is certain: another boot of this host, no such process,
 * or a process of the same number that started at another time. Another host or another PID namespace: 'unknown'.
 */
export function processState(identity: ProcessIdentity): 'alive' | 'ended' | 'unknown' {
  if (identity.host !== hostId() || identity.bootId === 'unknown') return 'unknown';
  if (identity.bootId !== bootId()) return 'ended';
  try {
    process.kill(identity.pid, 0);
  } catch (error) {
    // EPERM: it exists and belongs to another user.
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return 'ended';
  }
  if (isZombie(identity.pid)) return 'ended';
  const started = startTime(identity.pid);
  if (started === undefined || identity.started === 'unknown') return 'unknown';
  return started === identity.started ? 'alive' : 'ended';
}

/** Start time of a running process, in the kernel's unit. Undefined when it is unknown. */
function startTime(pid: number): string | undefined {
  try {
    if (process.platform !== 'linux') {
      return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    }
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // proc(5): field 22; the second field is the name in parentheses, which may hold spaces and parentheses.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}

/** Whether it has ended, but its parent has not read its status yet. */
function isZombie(pid: number): boolean {
  if (process.platform !== 'linux') return false;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
  } catch {
    return false;
  }
}

/** Differs after each boot. */
export function bootId(): string {
  try {
    if (process.platform === 'linux') return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return execFileSync('sysctl', ['-n', 'kern.bootsessionuuid'], { encoding: 'utf8' }).trim();
  } catch {
    return 'unknown';
  }
}

/** The host's name and, on Linux, the PID namespace: numbers have no meaning in another one. */
function hostId(): string {
  if (process.platform !== 'linux') return hostname();
  try {
    return `${hostname()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return `${hostname()} unknown`;
  }
}
