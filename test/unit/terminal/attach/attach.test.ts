import { EventEmitter, once } from 'node:events';
import { PassThrough } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import type { Container } from '../../../../src/core/types/engine.ts';
import { type AttachedTerminal, attachTerminal, type TerminalStreams } from '../../../../src/terminal/attach/attach.ts';

/** A container without an engine behind it: its streams are the test's, and the test ends it. */
function scene(options: { screen: boolean }) {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const stdin = new PassThrough();
  const calls: string[] = [];
  let end: (status: number) => void = () => undefined;
  const ended = new Promise<number>((resolve) => {
    end = resolve;
  });
  const container = {
    id: 'x',
    name: 'x',
    stdout,
    stderr,
    stdin,
    start: async () => void calls.push('start'),
    wait: () => ended,
    kill: async (signal: string) => void calls.push(signal),
    resize: async (columns: number, rows: number) => void calls.push(`${columns}x${rows}`),
  } as unknown as Container;
  const typed = Object.assign(new PassThrough(), {
    isTTY: options.screen,
    isRaw: false,
    setRawMode: (raw: boolean) => calls.push(raw ? 'raw' : 'cooked'),
  });
  const screen = Object.assign(new PassThrough(), { isTTY: options.screen, columns: 100, rows: 30 });
  const errors = Object.assign(new PassThrough(), { isTTY: false });
  const streams: TerminalStreams = { stdin: typed, stdout: screen, stderr: errors };
  const signals = new EventEmitter();
  const finish = (status: number): void => {
    stdout.end();
    stderr.end();
    end(status);
  };
  const text = (stream: PassThrough): string => ((stream.read() as Buffer | null) ?? Buffer.alloc(0)).toString();
  return { container, stdout, stderr, stdin, typed, screen, errors, streams, signals, calls, finish, text };
}

describe('attaching to the user’s terminal', () => {
  it('attached again, the agent draws its screen again, and two keys detach while it continues to run', async () => {
    const s = scene({ screen: true });
    const options = { streams: s.streams, tty: true, stdin: true, signals: s.signals, isReattached: true };
    const done = attachTerminal(s.container, options);
    s.typed.write('\x11a\x10b');
    s.typed.write('\x10');
    s.typed.write('\x11never');
    expect(await done).toEqual({ status: undefined, signal: undefined, dropped: {} });
    expect(s.text(s.stdin)).toBe('\x11a\x10b\x10');
    expect(s.calls.slice(0, 3)).toEqual(['raw', 'start', '100x31']);
    expect(s.calls.at(-1)).toBe('cooked');
    expect(s.typed.listenerCount('data')).toBe(0);
  });

  it('passes keys raw, sizes and signals, filters output, and puts everything back', async () => {
    const s = scene({ screen: true });
    const done = attachTerminal(s.container, { streams: s.streams, tty: true, stdin: true, signals: s.signals });
    s.typed.write('\x03\x10\x11');
    s.stdout.write('\x1b[?1049h\x1b]52;c;QQ==\x07hi');
    expect((await once(s.stdin, 'data'))[0].toString()).toBe('\x03\x10\x11');
    s.screen.columns = 120;
    s.screen.emit('resize');
    s.signals.emit('SIGTERM');
    s.finish(7);
    expect(await done).toEqual({ status: 7, signal: 'SIGTERM', dropped: { clipboard: 1 } });
    expect(s.calls).toEqual(['raw', 'start', '100x30', '120x30', 'SIGTERM', 'cooked']);
    const shown = s.text(s.screen);
    expect(shown).toMatch(/^\x1b\[\?1049hhi/);
    expect(shown).toContain('\x1b[?1049l');
    expect(s.signals.eventNames()).toEqual([]);
    expect(s.screen.listenerCount('resize')).toBe(0);
    expect(s.typed.listenerCount('data')).toBe(0);
  });

  /** As the container's first process reports that the agent's program has stopped. */
  const STOPPED = '\x1b]7077;stopped\x07';
  const SCREEN_ON = '\x1b[?1049h\x1b[?1000h\x1b[>1u\x1b[?25l';

  it('stops with the agent after Ctrl-Z: the shell has its terminal, and afterwards the agent has its screen again', async () => {
    for (const key of ['\x1a', '\x1b[122;5u', '\x1b[27;5;122~']) {
      const s = scene({ screen: true });
      const suspend = (): void => void s.calls.push(`suspended: ${s.text(s.screen)}`);
      const options = { streams: s.streams, tty: true, stdin: true, signals: s.signals, suspend };
      const done = attachTerminal(s.container, options);
      s.stdout.write(SCREEN_ON);
      s.typed.write(key);
      await once(s.stdin, 'data');
      s.stdout.write(`bye${STOPPED}held`);
      await vi.waitFor(() => expect(s.calls).toContain('SIGCONT'));
      expect(s.calls.slice(3, 7)).toEqual(['cooked', expect.stringMatching(/^suspended: /), 'raw', 'SIGCONT']);
      const left = s.calls[4] ?? '';
      expect(left).toContain('bye');
      for (const one of ['\x1b[?1049l', '\x1b[?1000l', '\x1b[<1u', '\x1b[?25h']) expect(left).toContain(one);
      expect(left).not.toContain(STOPPED);
      const again = s.text(s.screen);
      for (const one of ['\x1b[?1049h', '\x1b[?1000h', '\x1b[>1u', '\x1b[?25l']) expect(again).toContain(one);
      // Drawn anew: another size, then the right one.
      await vi.waitFor(() => expect(s.calls.slice(7)).toEqual(['100x31', '100x30']));
      s.finish(0);
      expect((await done).dropped).toEqual({});
    }
  });

  it('wakes an agent that stops while the user types something else, or that no shell could resume', async () => {
    for (const [keys, suspends] of [
      ['\x1al', true],
      ['', true],
      ['\x1a', false],
    ] as const) {
      const s = scene({ screen: true });
      const suspend = (): void => void s.calls.push('suspended');
      const options = { streams: s.streams, tty: true, stdin: true, signals: s.signals, ...(suspends && { suspend }) };
      const done = attachTerminal(s.container, options);
      s.stdout.write(SCREEN_ON);
      if (keys !== '') {
        s.typed.write(keys);
        await once(s.stdin, 'data');
      }
      s.stdout.write(STOPPED);
      await vi.waitFor(() => expect(s.calls).toContain('SIGCONT'));
      expect(s.calls.slice(0, 4)).toEqual(['raw', 'start', '100x30', 'SIGCONT']);
      expect(s.text(s.screen)).toBe(SCREEN_ON);
      s.finish(0);
      await done;
    }
  });

  it('shows run-claude’s lines on the other screen, holds the agent’s output, and restores the screen at the end', async () => {
    for (const ends of [false, true]) {
      const s = scene({ screen: true });
      let terminal: AttachedTerminal | undefined;
      const onAttached = (given: AttachedTerminal): void => {
        terminal = given;
      };
      const options = { streams: s.streams, tty: true, stdin: true, signals: s.signals, onAttached };
      const done = attachTerminal(s.container, options);
      s.stdout.write('\x1b[?2004hagent');
      await vi.waitFor(() => expect(terminal).toBeDefined());
      await vi.waitFor(() => expect(s.screen.readableLength).toBeGreaterThan(10));
      s.text(s.screen);
      terminal?.showOver(['question']);
      s.stdout.write('later');
      const over = s.text(s.screen);
      expect(over).toMatch(/^\x1b\[\?1049h[\s\S]*\x1b\[\?2004l[\s\S]*question/);
      expect(over).not.toContain('later');
      if (!ends) {
        terminal?.showAgent();
        await vi.waitFor(() => expect(s.screen.readableLength).toBe(25));
        expect(s.text(s.screen)).toBe('\x1b[0m\x1b[?1049l\x1b[?2004hlater');
      }
      s.finish(0);
      await done;
      const end = s.text(s.screen);
      expect(end.includes('\x1b[?1049l')).toBe(ends);
    }
  });

  it('restores the terminal when the container cannot be started', async () => {
    const s = scene({ screen: true });
    s.container.start = async () => {
      throw new Error('no');
    };
    const done = attachTerminal(s.container, { streams: s.streams, tty: true, stdin: true, signals: s.signals });
    await expect(done).rejects.toThrow('no');
    expect(s.calls).toEqual(['raw', 'cooked']);
    expect(s.signals.eventNames()).toEqual([]);
  });

  it('restores the terminal when the process ends while attached', async () => {
    const s = scene({ screen: true });
    const done = attachTerminal(s.container, { streams: s.streams, tty: true, stdin: true, signals: s.signals });
    s.signals.emit('exit');
    expect(s.calls).toContain('cooked');
    s.finish(0);
    await done;
  });

  it('without a terminal, passes stdout and stderr separately, byte for byte, and ends the agent’s stdin at the end of the user’s', async () => {
    const s = scene({ screen: false });
    const done = attachTerminal(s.container, { streams: s.streams, tty: false, stdin: true, signals: s.signals });
    const ended = once(s.stdin.resume(), 'end');
    s.typed.end('prompt');
    s.stdout.write(Buffer.from([0, 0xff, 0x1b, 0x5d]));
    s.stderr.write('warning');
    await ended;
    s.finish(0);
    expect((await done).status).toBe(0);
    expect(s.screen.read()).toEqual(Buffer.from([0, 0xff, 0x1b, 0x5d]));
    expect(s.text(s.errors)).toBe('warning');
    expect(s.calls).toEqual(['start']);
  });

  it('drops output that may not be shown, asked before each write', async () => {
    const s = scene({ screen: false });
    let mayShow = true;
    const options = { streams: s.streams, tty: false, stdin: false, signals: s.signals, mayShow: () => mayShow };
    const done = attachTerminal(s.container, options);
    s.stdout.write('shown\n');
    await once(s.screen, 'readable');
    mayShow = false;
    s.stdout.write('dropped\n');
    s.stderr.write('dropped\n');
    s.finish(137);
    expect((await done).status).toBe(137);
    expect([s.text(s.screen), s.text(s.errors)]).toEqual(['shown\n', '']);
  });

  it('continues when the output is no longer read', async () => {
    const s = scene({ screen: false });
    const done = attachTerminal(s.container, { streams: s.streams, tty: false, stdin: false, signals: s.signals });
    s.stdout.write('a');
    s.screen.emit('error', Object.assign(new Error('EPIPE'), { code: 'EPIPE' }));
    for (let i = 0; i < 50; i += 1) s.stdout.write(Buffer.alloc(65_536));
    s.finish(0);
    expect((await done).status).toBe(0);
  });

  it('waits for a reader that is slower than the program, and not for a stream that stays open without data', async () => {
    vi.useFakeTimers();
    try {
      const s = scene({ screen: false });
      const done = attachTerminal(s.container, { streams: s.streams, tty: false, stdin: false, signals: s.signals });
      for (let i = 0; i < 10; i += 1) s.stdout.write(Buffer.alloc(65_536));
      s.finish(0);
      let size = 0;
      // Whatever has come, each ten seconds.
      for (let turn = 0; turn < 60; turn += 1) {
        await vi.advanceTimersByTimeAsync(10_000);
        size += (s.screen.read() as Buffer | null)?.length ?? 0;
      }
      expect(size).toBe(655_360);
      expect((await done).status).toBe(0);

      const silent = scene({ screen: false });
      silent.container.wait = async () => 7;
      const options = { streams: silent.streams, tty: false, stdin: false, signals: silent.signals };
      const over = attachTerminal(silent.container, options);
      await vi.advanceTimersByTimeAsync(10_000);
      expect((await over).status).toBe(7);
    } finally {
      vi.useRealTimers();
    }
  });

  it('slows the program down to the speed of the reader', async () => {
    const s = scene({ screen: false });
    const done = attachTerminal(s.container, { streams: s.streams, tty: false, stdin: false, signals: s.signals });
    for (let i = 0; i < 100; i += 1) s.stdout.write(Buffer.alloc(65_536));
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(s.screen.readableLength + s.screen.writableLength).toBeLessThan(1024 * 1024);
    s.screen.resume();
    s.finish(0);
    await done;
  });
});
