import type { ChildProcess } from 'node:child_process';
import { spawn } from '../../core/host/programs/start-program.ts';
import type { Tell } from '../../core/types/event.ts';

/** How a machine of this kind is kept awake as long as a process runs. */
type Awake = (sessionId: string, pid: number) => readonly [program: string, ...args: string[]];

const AWAKE: Partial<Readonly<Record<NodeJS.Platform, Awake>>> = {
  darwin: (_id, pid) => ['caffeinate', '-i', '-w', String(pid)],
  // tail ends with the process, also where that is killed.
  linux: (id, pid) => [
    'systemd-inhibit',
    '--what=sleep:idle',
    '--mode=block',
    '--who=run-claude',
    `--why=session ${id} is working`,
    'tail',
    `--pid=${pid}`,
    '-f',
    '/dev/null',
  ],
};

export interface KeepAwakeOptions {
  readonly tell: Tell;
  readonly platform?: NodeJS.Platform;
}

/**
 * Keeps this machine from going to sleep until it is disposed, or this process ends. Where that fails the user gets a warning,
 * and the session goes on.
 */
export function keepAwake(sessionId: string, { tell, platform = process.platform }: KeepAwakeOptions): Disposable {
  const command = AWAKE[platform]?.(sessionId, process.pid);
  const warn = (why: string): void =>
    tell({ kind: 'message', level: 'warning', text: `--keep-awake: this machine may go to sleep: ${why}` });
  if (command === undefined) {
    warn(`there is no way known for ${platform}`);
    return { [Symbol.dispose]: () => undefined };
  }
  const [program, ...args] = command;
  let isOver = false;
  const child = spawn(program, args, { cwd: '/', detached: true, stdio: 'ignore' });
  child.once('error', () => warn(`${program} could not be started`));
  child.once('exit', (status) => {
    if (!isOver) warn(`${program} ended with status ${status}`);
    // From now on the group's number may be that of a stranger's.
    isOver = true;
  });
  child.unref();
  return {
    [Symbol.dispose]() {
      if (!isOver) endGroup(child);
      isOver = true;
    },
  };
}

/** Ends the program, and the one that it started. */
function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGTERM');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
