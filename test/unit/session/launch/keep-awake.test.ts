import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { SessionEvent } from '../../../../src/core/types/event.ts';
import { keepAwake } from '../../../../src/session/launch/keep-awake.ts';

let dir: string;
let events: SessionEvent[];
const before = process.env['PATH'];
const tell = (event: SessionEvent): void => void events.push(event);

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'run-claude-awake-'));
  events = [];
});
afterEach(() => {
  process.env['PATH'] = before;
  rmSync(dir, { recursive: true, force: true });
});

/** A machine whose program of this name records its words, and does this. */
function machine(name: string, script: string): void {
  writeFileSync(path.join(dir, name), `#!/bin/sh\necho "$@" >'${dir}/words'\n${script}\n`);
  chmodSync(path.join(dir, name), 0o755);
  process.env['PATH'] = `${dir}:${before}`;
}

async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 200 && !holds(); tries++) await sleep(50);
  expect(holds()).toBe(true);
}

const words = (): string => (existsSync(path.join(dir, 'words')) ? readFileSync(path.join(dir, 'words'), 'utf8') : '');
const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

it.each([
  ['linux', 'systemd-inhibit', `--pid=${process.pid}`],
  ['darwin', 'caffeinate', `-w ${process.pid}`],
] as const)(
  'on %s, %s runs until the session ends, and as long as this process at most',
  async (platform, name, own) => {
    machine(name, `echo $$ >'${dir}/pid'\nexec sleep 600`);
    {
      using _awake = keepAwake('261129-100000-abc', { tell, platform });
      await until(() => existsSync(path.join(dir, 'pid')));
      expect(words()).toContain(own);
    }
    const pid = Number(readFileSync(path.join(dir, 'pid'), 'utf8'));
    await until(() => !isAlive(pid));
    expect(events).toEqual([]);
  },
);

it('reports what ends at once, what is missing, and a system without a way', async () => {
  machine('systemd-inhibit', 'exit 1');
  using _failed = keepAwake('a', { tell, platform: 'linux' });
  await until(() => events.length === 1);
  process.env['PATH'] = dir;
  using _missing = keepAwake('a', { tell, platform: 'darwin' });
  await until(() => events.length === 2);
  using _unknown = keepAwake('a', { tell, platform: 'aix' });
  expect(events.map((event) => (event.kind === 'message' ? event.text : ''))).toEqual([
    '--keep-awake: this machine may go to sleep: systemd-inhibit ended with status 1',
    '--keep-awake: this machine may go to sleep: caffeinate could not be started',
    '--keep-awake: this machine may go to sleep: there is no way known for aix',
  ]);
});

it('signals nobody once its program ended: the number may be that of another by then', async () => {
  machine('systemd-inhibit', 'exit 1');
  const kill = vi.spyOn(process, 'kill');
  {
    using _awake = keepAwake('a', { tell, platform: 'linux' });
    await until(() => events.length === 1);
  }
  expect(kill).not.toHaveBeenCalled();
  kill.mockRestore();
});
