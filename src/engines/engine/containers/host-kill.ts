import { readFileSync } from 'node:fs';
import type Docker from 'dockerode';

/** The first process of a running container, as this machine numbers it; undefined where it cannot be learned. */
export async function hostPidOf(container: Pick<Docker.Container, 'inspect'>): Promise<number | undefined> {
  try {
    const pid: unknown = (await container.inspect()).State.Pid;
    return typeof pid === 'number' && pid > 1 ? pid : undefined;
  } catch {
    // The engine's own request ends the container as well, some milliseconds later.
    return undefined;
  }
}

/**
 * Sends SIGKILL to the first process of a container, with which all its processes end. Returns false where the process is
 * not of that container (any more), or this user may not end it.
 */
export function killOnHost(pid: number, containerId: string): boolean {
  try {
    if (!readFileSync(`/proc/${pid}/cgroup`, 'utf8').includes(containerId)) return false;
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
}
