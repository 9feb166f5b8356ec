import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { SessionRecord } from '../../src/core/types/session.ts';
import { connectKept, type KeptConnection } from '../../src/session/kept/connection.ts';
import { type Door, openDoor } from '../../src/session/kept/door.ts';
import { FRAME, type Frame, FrameReader } from '../../src/session/kept/frames.ts';
import { writePlace } from '../../src/session/kept/place.ts';
import type { Runner } from '../../src/session/kept/runner.ts';

export type StartRunner = (onFrame: (frame: Frame) => void) => Promise<Runner>;

/** The real runner as a process of this machine, in a directory: what it does there needs no container. */
export function runnerIn(cwd: string): StartRunner {
  return async (onFrame) => {
    const file = new URL('./runner-worker.cjs', import.meta.url);
    const child = spawn(process.execPath, [file.pathname], { cwd, stdio: ['pipe', 'pipe', 'inherit'] });
    const frames = new FrameReader();
    const ended = new Promise<string>((resolve) => {
      child.once('close', () => resolve('the runner inside ended'));
    });
    child.stdout.on('data', (piece: Buffer) => {
      for (const frame of frames.push(piece)) if (frame.kind !== FRAME.hello) onFrame(frame);
    });
    child.stdin.on('error', () => undefined);
    return { write: (frame) => void child.stdin.write(frame), ended, kill: () => void child.kill('SIGKILL') };
  };
}

export interface KeptDoor extends AsyncDisposable {
  /** Where the real runner starts programs. */
  readonly dir: string;
  readonly door: Door;
  readonly record: SessionRecord;
  connect(): Promise<KeptConnection>;
}

/** A door without a session, with a client's view of it. */
export async function openKeptDoor(
  start: StartRunner | undefined = undefined,
  idle: { readonly afterMs: number; readonly onIdle: () => void } = { afterMs: 3_600_000, onIdle: () => undefined },
): Promise<KeptDoor> {
  const dir = mkdtempSync(path.join(tmpdir(), 'kept-door-'));
  const door = await openDoor({ startRunner: start ?? runnerIn(dir), idle });
  const record = { id: '261123-000000-abc', plan: { sessionDir: dir } } as unknown as SessionRecord;
  writePlace(dir, door.socket);
  return {
    dir,
    door,
    record,
    connect: () => connectKept(record),
    async [Symbol.asyncDispose]() {
      await door.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
