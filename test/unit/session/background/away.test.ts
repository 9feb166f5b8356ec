import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { attachAway } from '../../../../src/session/background/attach-away.ts';
import { awayDoor } from '../../../../src/session/background/away-door.ts';
import { type AwayTerminal, openAwayTerminal, outputFile } from '../../../../src/session/background/away-terminal.ts';
import { hasPlace, readPlace, writePlace } from '../../../../src/session/kept/place.ts';
import type { SessionDoor } from '../../../../src/session/stage/deps.ts';
import { sessionRecord } from '../../../support/session-record.ts';

let sessionDir: string;
beforeEach(() => {
  sessionDir = mkdtempSync(path.join(tmpdir(), 'away-'));
});
afterEach(() => rmSync(sessionDir, { recursive: true }));

const record = (tty: boolean) => sessionRecord({ plan: { sessionDir, tty } });

async function withDoor(tty: boolean, body: (away: AwayTerminal, door: SessionDoor) => Promise<void>): Promise<void> {
  const away = openAwayTerminal({ tty, outputFile: outputFile(sessionDir) });
  const door = awayDoor(sessionDir, away, () => undefined);
  await door.open();
  try {
    await body(away, door);
  } finally {
    await door.close();
  }
}

/** A terminal of a user. */
function terminal(columns: number, rows: number) {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined });
  const stdout = Object.assign(new PassThrough(), { isTTY: true, columns, rows });
  let text = '';
  stdout.on('data', (piece: Buffer) => {
    text += piece.toString('latin1');
  });
  return {
    streams: { stdin, stdout, stderr: new PassThrough() },
    text: () => text,
    type: (keys: string) => stdin.write(keys),
  };
}

async function until(isTrue: () => boolean): Promise<void> {
  for (let tries = 0; tries < 300 && !isTrue(); tries += 1) await sleep(10);
  expect(isTrue()).toBe(true);
}

describe('the terminal of an agent in the background', () => {
  it('is shown on two terminals, has the size of the last one, and keeps running when they leave', () =>
    withDoor(true, async (away) => {
      away.attached({ modes: () => Buffer.from('\x1b[?2004h') });
      const typed: string[] = [];
      away.streams.stdin.on('data', (keys: Buffer) => typed.push(keys.toString()));
      let resized = 0;
      away.streams.stdout.on('resize', () => {
        resized += 1;
      });
      away.streams.stdout.write('before ');
      const [one, two] = [terminal(80, 24), terminal(120, 40)];
      const first = attachAway(record(true), one.streams);
      await until(() => one.text().includes('before \x1b[?2004h'));
      const second = attachAway(record(true), two.streams);
      await until(() => two.text().includes('before \x1b[?2004h') && away.streams.stdout.rows === 40);
      expect(away.streams.stdout.columns).toBe(120);
      expect(resized).toBeGreaterThan(1);
      away.streams.stdout.write('after');
      await until(() => one.text().includes('after') && two.text().includes('after'));
      one.type('keys');
      one.type('\x10\x11never');
      expect(await first).toBe('detached');
      await until(() => typed.join('') === 'keys\x10');
      two.streams.stdin.destroy();
      expect(hasPlace(sessionDir)).toBe(true);
      two.type('\x10\x11');
      await Promise.race([second, sleep(200)]);
    }));

  it('tells each terminal when the agent ends', () =>
    withDoor(true, async (_, door) => {
      const one = terminal(80, 24);
      const attached = attachAway(record(true), one.streams);
      await until(() => one.text() !== '');
      await sleep(50);
      await door.close();
      expect(await attached).toBe('ended');
      expect(hasPlace(sessionDir)).toBe(false);
    }));

  it('does not take a lost connection for the end of the agent', async () => {
    const dir = mkdtempSync(path.join(tmpdir(), 'away-keeper-'));
    const server = createServer((client) => setTimeout(() => client.end(), 50));
    await new Promise<void>((resolve) => server.listen(path.join(dir, 's'), () => resolve()));
    writePlace(sessionDir, path.join(dir, 's'));
    expect(await attachAway(record(true), terminal(80, 24).streams)).toBe('lost');
    server.close();
    rmSync(dir, { recursive: true });
  });

  it('passes what the agent printed through the filter of the terminal that shows it, too', () =>
    withDoor(true, async (away) => {
      const one = terminal(80, 24);
      const attached = attachAway(record(true), one.streams);
      await until(() => one.text() !== '');
      away.streams.stdout.write('\x1b]52;c;aGFjaw==\x07shown');
      await until(() => one.text().includes('shown'));
      expect(one.text()).not.toContain(']52;');
      one.type('\x10\x11');
      await attached;
    }));

  it('drops a connection that sends bytes that are not a frame, or does not read, and loses nothing of the others', () =>
    withDoor(true, async (away) => {
      const bad = connect(readPlace(record(true)));
      bad.write(Buffer.alloc(64, 0xff));
      await new Promise((resolve) => bad.once('close', resolve));
      const silent = connect(readPlace(record(true)));
      silent.pause();
      silent.write(Buffer.from([0, 0, 0, 2, 1, 0, 0, 0, 0, 0x7b, 0x7d]));
      let isClosed = false;
      silent.once('close', () => {
        isClosed = true;
      });
      await sleep(50);
      for (let i = 0; i < 64; i += 1) away.streams.stdout.write(Buffer.alloc(256 * 1024, 0x61));
      silent.resume();
      await until(() => isClosed);
      expect(away.streams.stdout.columns).toBe(80);
    }));
});

describe('the output of a program in the background', () => {
  it('is kept in a file of this user alone, and its input ends', () =>
    withDoor(false, async (away) => {
      away.streams.stdout.write('printed\n');
      away.streams.stderr.write('and this\n');
      away.type(Buffer.from('no key arrives'));
      const read: Buffer[] = [];
      for await (const piece of away.streams.stdin) read.push(piece as Buffer);
      expect(Buffer.concat(read).toString()).toBe('');
      expect(readFileSync(outputFile(sessionDir), 'utf8')).toBe('printed\nand this\n');
      expect(statSync(outputFile(sessionDir)).mode & 0o077).toBe(0);
    }));

  it('has a limit, and says so', () =>
    withDoor(false, async (away) => {
      for (let i = 0; i < 66; i += 1) away.streams.stdout.write(Buffer.alloc(1024 ** 2, 0x61));
      expect(statSync(outputFile(sessionDir)).size).toBe(63 * 1024 ** 2 + 24);
      expect(readFileSync(outputFile(sessionDir)).subarray(-24).toString()).toBe(
        '[the rest is not kept]\n'.padStart(24, '\n'),
      );
    }));
});
