import { rmSync } from 'node:fs';
import path from 'node:path';
import { readJson, writeJsonAtomic } from '../../../core/store/record.ts';
import { isFullDisk } from '../../../core/store/remedy.ts';

const requestFile = (sessionDir: string): string => path.join(sessionDir, 'stop-request');

/** Records for the command that runs a session why it is about to get SIGTERM. A full disk takes the reason only. */
export function requestStop(sessionDir: string, why = 'run-claude stop'): void {
  try {
    writeJsonAtomic(requestFile(sessionDir), why);
  } catch (error) {
    if (!isFullDisk(error)) throw error;
  }
}

/** Why a session got a signal: that of the stop request, which is removed, or an interruption. */
export function whyStopped(sessionDir: string): string {
  const why = readReason(requestFile(sessionDir));
  rmSync(requestFile(sessionDir), { force: true });
  return typeof why === 'string' ? why : 'interrupted';
}

function readReason(file: string): unknown {
  try {
    return readJson(file);
  } catch {
    // It was asked all the same.
    return 'run-claude stop';
  }
}
