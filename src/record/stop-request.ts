import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { writeJsonAtomic } from '../store/record.ts';

const requestFile = (sessionDir: string): string => path.join(sessionDir, 'stop-request');

/** Records for the command that runs a session why it is about to get SIGTERM. */
export function requestStop(sessionDir: string): void {
  writeJsonAtomic(requestFile(sessionDir), new Date().toISOString());
}

/** Why a session got a signal: a stop request, which is removed, or an interruption. */
export function whyStopped(sessionDir: string): string {
  const isRequested = existsSync(requestFile(sessionDir));
  rmSync(requestFile(sessionDir), { force: true });
  return isRequested ? 'run-claude stop' : 'interrupted';
}
