import { readlinkSync } from 'node:fs';
import type { ProcessIdentity } from '../../types/session.ts';
import { type Machine, thisMachine } from '../machine.ts';

/** The identity of this process, which a later command can check: no other process of this boot has all of its values. */
export function processIdentity(machine: Machine = thisMachine): ProcessIdentity {
  const { machineId } = machine;
  return {
    pid: process.pid,
    ...machine.ownStart(),
    bootId: machine.bootId,
    host: hostId(machine),
    ...(machineId === undefined ? {} : { machine: machineId }),
  };
}

/**
 * Whether the process still runs. The result that it has ended is certain: another boot of this machine, no such process,
 * or a process of the same number that started at another time. Another machine or another PID namespace: 'unknown'.
 */
export function processState(identity: ProcessIdentity, machine: Machine = thisMachine): 'alive' | 'ended' | 'unknown' {
  if (identity.bootId === 'unknown' || machine.bootId === 'unknown') return 'unknown';
  if (identity.bootId !== machine.bootId) return isSameMachine(identity, machine) ? 'ended' : 'unknown';
  // The same boot is the same machine, whatever its name is now.
  if (namespaceOf(identity.host) !== namespaceOf(hostId(machine))) return 'unknown';
  try {
    process.kill(identity.pid, 0);
  } catch (error) {
    // EPERM: it exists and belongs to another user.
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return 'ended';
  }
  const now = machine.startOf(identity.pid);
  if (now?.isZombie === true) return 'ended';
  if (machine.platform !== 'linux') return compareTimes(identity.startedAt, now?.startedAt);
  return compareTimes(identity.started === 'unknown' ? undefined : identity.started, now?.started);
}

/** Differs after each boot. */
export function bootId(): string {
  return thisMachine.bootId;
}

function compareTimes(recorded: string | undefined, now: string | undefined): 'alive' | 'ended' | 'unknown' {
  if (recorded === undefined || now === undefined) return 'unknown';
  return recorded === now ? 'alive' : 'ended';
}

/**
 * Whether an identity of another boot is of this machine. A Mac's id is of its hardware, and its host name changes with
 * the network. On Linux, machines that start from one image may share an id: the name has to be the same as well.
 */
function isSameMachine(identity: ProcessIdentity, machine: Machine): boolean {
  const { machineId } = machine;
  if (identity.machine !== undefined && machineId !== undefined) {
    if (identity.machine !== machineId) return false;
    if (machine.platform === 'darwin') return true;
  }
  return identity.host === hostId(machine);
}

/** The host's name and, on Linux, the PID namespace: numbers have no meaning in another one. */
function hostId({ platform, hostname }: Machine): string {
  if (platform !== 'linux') return hostname;
  try {
    return `${hostname} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return `${hostname} unknown`;
  }
}

function namespaceOf(host: string): string | undefined {
  return host.split(' ')[1];
}
