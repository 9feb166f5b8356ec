import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import type { KeptConnection } from '../../../../src/session/kept/connection.ts';
import { FRAME, type Frame, MAX_FRAME_BYTES, PIECE_BYTES, WINDOW_BYTES } from '../../../../src/session/kept/frames.ts';
import type { Runner } from '../../../../src/session/kept/runner.ts';
import { openKeptDoor, type StartRunner } from '../../../support/kept-door.ts';

const run = async (connection: KeptConnection, argv: readonly string[], input = '') => {
  const program = connection.start({ kind: 'run', argv });
  program.stdin.end(input);
  const [stdout, stderr, exit] = await Promise.all([text(program.stdout), text(program.stderr), program.exit]);
  return { stdout, stderr, ...exit };
};

describe('commands of a kept session', () => {
  it('have their own output, status and input, many at a time over one connection', async () => {
    await using kept = await openKeptDoor();
    const connection = await kept.connect();
    const script = (n: number) => ['sh', '-c', `cat; echo out ${n}; echo err ${n} >&2; exit ${n}`];
    const all = await Promise.all([0, 1, 2, 3].map((n) => run(connection, script(n), `in ${n}\n`)));
    expect(all).toEqual(
      [0, 1, 2, 3].map((n) => ({ stdout: `in ${n}\nout ${n}\n`, stderr: `err ${n}\n`, status: n, timedOut: false })),
    );
    connection.close();
  });

  it('pass more than a window of bytes both ways, byte for byte', async () => {
    await using kept = await openKeptDoor();
    const connection = await kept.connect();
    const sent = 'x'.repeat(5 * WINDOW_BYTES + 1);
    const { stdout, status } = await run(connection, ['cat'], sent);
    expect(stdout === sent).toBe(true);
    expect(status).toBe(0);
    connection.close();
  });

  it('wait for a client that does not read, and hold nobody else up', async () => {
    await using kept = await openKeptDoor();
    const connection = await kept.connect();
    const slow = connection.start({ kind: 'run', argv: ['sh', '-c', 'head -c 50000000 /dev/zero; echo done >&2'] });
    slow.stdin.end();
    expect(await run(connection, ['echo', 'quick'])).toMatchObject({ stdout: 'quick\n' });
    await sleep(200);
    expect((slow.stderr as unknown as { readableLength: number }).readableLength).toBe(0);
    connection.close();
  });

  it('end by a signal, a time limit and a missing program as in a shell', async () => {
    await using kept = await openKeptDoor();
    const connection = await kept.connect();
    const signalled = connection.start({ kind: 'run', argv: ['sh', '-c', 'echo up; sleep 60'] });
    signalled.stdout.once('data', () => signalled.signal('SIGTERM'));
    expect(await signalled.exit).toEqual({ status: 143, timedOut: false });
    const timed = connection.start({ kind: 'run', argv: ['sleep', '60'], timeoutMs: 50 });
    expect(await timed.exit).toEqual({ status: 143, timedOut: true });
    expect(await run(connection, ['no-such-program'])).toMatchObject({ status: 127 });
    const elsewhere = connection.start({ kind: 'run', argv: ['true'], cwd: '/no/such/directory' });
    expect((await elsewhere.exit).status).toBe(127);
    connection.close();
  });

  it('end before what they left in the background, which runs on', async () => {
    await using kept = await openKeptDoor();
    const connection = await kept.connect();
    const late = path.join(kept.dir, 'late');
    const go = path.join(kept.dir, 'go');
    const wait = `while [ ! -e ${go} ]; do sleep 0.05; done; echo late; : > ${late}`;
    const { stdout } = await run(connection, ['sh', '-c', `(${wait}) & echo first`]);
    expect(stdout).toBe('first\n');
    writeFileSync(go, '');
    await expect.poll(() => existsSync(late)).toBe(true);
    connection.close();
  });

  it('are ended with what they started when their client leaves', async () => {
    await using kept = await openKeptDoor();
    const connection = await kept.connect();
    const alive = path.join(kept.dir, 'alive');
    const script = `trap 'rm ${alive}; exit' TERM; : > ${alive}; sleep 60 & wait`;
    connection.start({ kind: 'run', argv: ['sh', '-c', script] });
    await expect.poll(() => existsSync(alive)).toBe(true);
    connection.close();
    await expect.poll(() => existsSync(alive)).toBe(false);
  });
});

describe('a runner in the hands of the agent', () => {
  /** One that answers a start as it likes. */
  const hostile = (answer: (id: number, send: (frame: Frame) => void) => void) => {
    const killed: string[] = [];
    let starts = 0;
    const start: StartRunner = async (onFrame) => {
      starts += 1;
      let end: (why: string) => void = () => undefined;
      const ended = new Promise<string>((resolve) => {
        end = resolve;
      });
      const runner: Runner = {
        ended,
        kill(why) {
          killed.push(why);
          end(why);
        },
        write(frame) {
          if (frame.readUInt8(4) === FRAME.start) answer(frame.readUInt32BE(5), onFrame);
        },
      };
      return runner;
    };
    return { start, killed, starts: () => starts };
  };

  it('is ended when it sends more than the client has taken, and started again for the next request', async () => {
    const piece = Buffer.alloc(PIECE_BYTES);
    const { start, killed, starts } = hostile((id, send) => {
      for (let sent = 0; sent <= 4 * WINDOW_BYTES; sent += piece.length) send({ kind: FRAME.stdout, id, bytes: piece });
    });
    await using kept = await openKeptDoor(start);
    const connection = await kept.connect();
    const program = connection.start({ kind: 'run', argv: ['true'] });
    await expect(program.exit).rejects.toThrow('more than was asked for');
    expect(killed.length).toBeGreaterThan(0);
    await expect(connection.start({ kind: 'run', argv: ['true'] }).exit).rejects.toThrow('more than was asked for');
    expect(starts()).toBe(2);
    connection.close();
  });

  it('reaches no other request than those that are open, and no kind of frame that is for itself', async () => {
    const { start } = hostile((id, send) => {
      send({ kind: FRAME.stdout, id: id + 1, bytes: Buffer.from('of another') });
      send({ kind: FRAME.start, id, bytes: Buffer.from('{"kind":"run"}') });
      send({ kind: FRAME.signal, id, bytes: Buffer.from('SIGKILL') });
      send({ kind: FRAME.exit, id, bytes: Buffer.from('{"status":-1,"timedOut":"no"}') });
      send({ kind: FRAME.stdout, id, bytes: Buffer.from('after its end') });
    });
    await using kept = await openKeptDoor(start);
    const connection = await kept.connect();
    expect(await run(connection, ['true'])).toEqual({ stdout: '', stderr: '', status: 255, timedOut: false });
    connection.close();
  });

  it('gives texts and reasons of bounded size alone', async () => {
    const { start } = hostile((id, send) => {
      const bytes = id === 1 ? Buffer.alloc(2 * WINDOW_BYTES, 'a') : Buffer.alloc(2 * WINDOW_BYTES, 'b');
      send({ kind: id === 1 ? FRAME.result : FRAME.failure, id, bytes });
    });
    await using kept = await openKeptDoor(start);
    const connection = await kept.connect();
    const { text: read, isCut } = await connection.ask({ kind: 'read', path: 'a' });
    expect([read.length, isCut]).toEqual([WINDOW_BYTES, true]);
    await expect(connection.ask({ kind: 'read', path: 'a' })).rejects.toThrow(/^b{1000}$/);
    connection.close();
  });

  it('that never answers keeps no request that was cancelled, and jams nothing', async () => {
    const { start } = hostile(() => undefined);
    const onIdle = vi.fn();
    await using kept = await openKeptDoor(start, { afterMs: 200, onIdle });
    const connection = await kept.connect();
    for (let round = 0; round < 2; round++) {
      const over = new AbortController();
      const asked = Array.from({ length: 127 }, () => connection.ask({ kind: 'read', path: 'a' }, over.signal));
      const program = connection.start({ kind: 'run', argv: ['true'] });
      over.abort(new Error('over'));
      program.cancel();
      const settled = await Promise.allSettled([...asked, program.exit]);
      expect(new Set(settled.map((one) => one.status === 'rejected' && (one.reason as Error).message))).toEqual(
        new Set(['over', 'the request was cancelled']),
      );
    }
    await expect.poll(() => onIdle.mock.calls.length).toBe(1);
    connection.close();
  });

  it('fails a command that it answers with a text', async () => {
    const { start } = hostile((id, send) => send({ kind: FRAME.result, id, bytes: Buffer.from('0') }));
    await using kept = await openKeptDoor(start);
    const connection = await kept.connect();
    await expect(run(connection, ['true'])).rejects.toThrow('did not say how the command ended');
    connection.close();
  });

  it('is ended when it takes more input than it was sent', async () => {
    const { start, killed } = hostile((id, send) => {
      send({ kind: FRAME.stdout, id, bytes: Buffer.alloc(0) });
      send({ kind: FRAME.inputTaken, id, bytes: Buffer.from([0, 0, 0, 1]) });
    });
    await using kept = await openKeptDoor(start);
    const connection = await kept.connect();
    await expect(connection.start({ kind: 'run', argv: ['true'] }).exit).rejects.toThrow('more than it was sent');
    expect(killed).toHaveLength(1);
    connection.close();
  });

  it('that does not start fails the request with its reason', async () => {
    await using kept = await openKeptDoor(async () => {
      throw new Error('no runner today');
    });
    const connection = await kept.connect();
    await expect(connection.ask({ kind: 'glob', pattern: '*' })).rejects.toThrow('no runner today');
    connection.close();
  });
});

describe('a request', () => {
  it('that is larger than a frame is refused, and leaves the connection as it is', async () => {
    await using kept = await openKeptDoor();
    const connection = await kept.connect();
    const content = '\u0001'.repeat(MAX_FRAME_BYTES / 6);
    await expect(connection.ask({ kind: 'write', path: 'a', content })).rejects.toThrow('is larger than');
    await expect(run(connection, ['echo', content])).rejects.toThrow('is larger than');
    expect(await run(connection, ['echo', 'on'])).toMatchObject({ stdout: 'on\n' });
    connection.close();
  });
});

describe('a command at its time limit', () => {
  it('ends with all that it started, also what ignores the first signal', async () => {
    await using kept = await openKeptDoor();
    const connection = await kept.connect();
    const script = "(trap '' TERM; echo $BASHPID; exec >/dev/null 2>&1; sleep 60; sleep 60) & sleep 60";
    const program = connection.start({ kind: 'run', argv: ['bash', '-c', script], timeoutMs: 300 });
    const pid = Number(await text(program.stdout));
    expect((await program.exit).timedOut).toBe(true);
    expect(pid).toBeGreaterThan(1);
    const isAlive = (): boolean =>
      existsSync(`/proc/${pid}/stat`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    await expect.poll(isAlive).toBe(false);
    connection.close();
  });
});

describe('the door', () => {
  it('refuses what is not a frame, and serves the next client', async () => {
    await using kept = await openKeptDoor();
    const { connect } = await import('node:net');
    const stranger = connect(kept.door.socket);
    stranger.on('error', () => undefined);
    stranger.write(Buffer.alloc(64, 0xff));
    await new Promise((resolve) => stranger.once('close', resolve));
    const connection = await kept.connect();
    expect(await run(connection, ['echo', 'served'])).toMatchObject({ stdout: 'served\n' });
    connection.close();
  });

  it('reports that it is idle once no command runs and none is held, and not before', async () => {
    const onIdle = vi.fn();
    await using kept = await openKeptDoor(undefined, { afterMs: 300, onIdle });
    const connection = await kept.connect();
    await run(connection, ['sleep', '0.8']);
    expect(onIdle).not.toHaveBeenCalled();
    const holder = await kept.connect();
    holder.hold();
    await sleep(700);
    expect(onIdle).not.toHaveBeenCalled();
    holder.close();
    await expect.poll(() => onIdle.mock.calls.length).toBe(1);
    connection.close();
  });

  it('is a socket for its user alone, in a directory that is removed with it', async () => {
    const { statSync } = await import('node:fs');
    const kept = await openKeptDoor();
    const { socket } = kept.door;
    expect(statSync(path.dirname(socket)).mode & 0o777).toBe(0o700);
    expect(statSync(socket).mode & 0o777).toBe(0o600);
    // The shortest limit of a system for the path of a socket.
    expect(Buffer.byteLength(path.basename(path.dirname(socket)) + path.basename(socket))).toBeLessThan(30);
    await kept[Symbol.asyncDispose]();
    expect(existsSync(path.dirname(socket))).toBe(false);
    await expect(kept.connect()).rejects.toThrow('is not up');
  });
});
