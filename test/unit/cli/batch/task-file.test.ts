import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdirSync, mkdtempSync, openSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readTaskFile } from '../../../../src/cli/batch/task-file.ts';
import type { SessionEvent } from '../../../../src/core/types/event.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(path.join(tmpdir(), 'run-claude-task-file-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

function contextOf(signal = new AbortController().signal) {
  const told: SessionEvent[] = [];
  const interruption = {
    signal,
    by: () => undefined,
    next: () => signal,
    lend: () => ({ [Symbol.dispose]: () => undefined }),
  };
  return { cwd, told, tell: (event: SessionEvent) => void told.push(event), interruption };
}

it('names a batch by the real path of its file, and by the current directory for standard input', async () => {
  writeFileSync(path.join(cwd, 'tasks'), 'é\n');
  symlinkSync('tasks', path.join(cwd, 'link'));
  const whole = { text: 'é\n', source: path.join(cwd, 'tasks') };
  expect(await readTaskFile('tasks', contextOf())).toEqual({ ...whole, name: 'tasks' });
  expect(await readTaskFile('link', contextOf())).toEqual({ ...whole, name: 'link' });
  const piped = await readTaskFile('-', contextOf(), Readable.from([Buffer.from('a\n')]));
  expect(piped).toEqual({ name: 'standard input', text: 'a\n', source: `${cwd}/-` });
});

it.each([
  ['', 'the name of the file of tasks is empty'],
  ['missing', 'cannot read missing: there is no such file'],
  ['folder', 'cannot read folder: it is a directory'],
  ['binary', 'binary is not a text in UTF-8'],
  ['/dev/zero', '/dev/zero is larger than 64 MB'],
])('refuses %j', async (name, message) => {
  mkdirSync(path.join(cwd, 'folder'));
  writeFileSync(path.join(cwd, 'binary'), Buffer.from([0x61, 0xff, 0xfe]));
  await expect(readTaskFile(name, contextOf())).rejects.toMatchObject({ code: 'USAGE', message });
});

it('says at a terminal what it reads, and ends at an interruption', async () => {
  const stop = new AbortController();
  const context = contextOf(stop.signal);
  const terminal = Object.assign(new Readable({ read: () => undefined }), { isTTY: true });
  const reading = readTaskFile('-', context, terminal);
  expect(context.told).toEqual([expect.objectContaining({ text: expect.stringContaining('Ctrl-D') })]);
  stop.abort(new Error('interrupted'));
  await expect(reading).rejects.toThrow('interrupted');
  expect(terminal.destroyed).toBe(true);
});

it('lets go of a FIFO at an interruption', async () => {
  const fifo = path.join(cwd, 'fifo');
  execFileSync('mkfifo', [fifo]);
  const stopping = new AbortController();
  const reading = readTaskFile('fifo', contextOf(stopping.signal));
  setTimeout(() => stopping.abort(new Error('interrupted')), 100);
  await expect(reading).rejects.toThrow('interrupted');
  await sleep(200);
  // ENXIO: nobody reads it. Where a thread still waited in open(2), this would succeed.
  expect(() => closeSync(openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK))).toThrow('ENXIO');
});
