import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Machine } from '../../../../src/core/host/machine.ts';
import { processIdentity, processState } from '../../../../src/core/host/processes/process.ts';

let bin: string;
beforeEach(() => {
  bin = mkdtempSync(path.join(tmpdir(), 'run-claude-process-'));
});
afterEach(() => rmSync(bin, { recursive: true, force: true }));

function program(name: string, script: string): void {
  writeFileSync(path.join(bin, name), `#!/bin/sh\n${script}\n`);
  chmodSync(path.join(bin, name), 0o755);
}

interface MacOptions {
  readonly boot?: string;
  readonly hardware?: string;
  /** Seconds since 1970. */
  readonly started?: number;
  readonly stat?: string;
  readonly name?: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** A machine of the macOS branch: stand-ins of its programs on PATH. `ps` prints local time, as the real one does. */
function mac(options: MacOptions = {}): Machine {
  const {
    boot = 'BOOT-1',
    hardware = 'HARDWARE-1',
    started = 1_795_403_930,
    stat = 'Ss+',
    name = 'mac.local',
  } = options;
  program('sysctl', `[ "$*" = "-n kern.bootsessionuuid" ] && echo ${boot}`);
  program('ioreg', `printf '%s\\n' '  | {' '  "IOPlatformUUID" = "${hardware}"' '  | }'`);
  program('ps', `[ -n "$LC_ALL" ] || exit 1\necho "${stat}  $(date -d @${started} '+%a %b %e %T %Y')"`);
  return new Machine('darwin', { PATH: `${bin}:${process.env['PATH']}`, ...options.env }, name);
}

describe('a process on macOS', () => {
  it('counts as alive in every time zone and language', () => {
    const identity = processIdentity(mac({ env: { TZ: 'America/New_York', LC_ALL: 'fr_FR.UTF-8' } }));
    expect(identity.startedAt).toBe('2026-11-23T03:18:50.000Z');
    for (const env of [{ TZ: 'Asia/Tokyo' }, { TZ: 'UTC0', LC_TIME: 'de_DE.UTF-8' }, {}])
      expect(processState(identity, mac({ env })), JSON.stringify(env)).toBe('alive');
    expect(processState(identity, mac({ started: 1_795_403_931 }))).toBe('ended');
    expect(processState(identity, mac({ stat: 'Z+' }))).toBe('ended');
  });

  it('does not count as ended for an earlier release, which compares the local text of ps', () => {
    expect(processIdentity(mac()).started).toBe('unknown');
  });

  it('recorded by an earlier release never counts as ended while its process id is in use', async () => {
    const old = { pid: process.pid, started: 'Sun Nov 22 22:18:50 2026', bootId: 'BOOT-1', host: 'mac.local' };
    expect(processState(old, mac())).toBe('unknown');
    const child = spawn('true');
    await once(child, 'exit');
    expect(processState({ ...old, pid: child.pid ?? 0 }, mac())).toBe('ended');
    expect(processState({ ...old, bootId: 'BOOT-0' }, mac())).toBe('ended');
  });

  it('has an unknown state without ps', () => {
    const identity = processIdentity(mac());
    const without = mac();
    program('ps', 'exit 1');
    expect(processState(identity, without)).toBe('unknown');
  });
});

describe('another name of the machine', () => {
  it('hides no process of this boot', async () => {
    const identity = processIdentity(mac());
    const renamed = mac({ name: 'dhcp-17.example.org' });
    expect(processState(identity, renamed)).toBe('alive');
    const child = spawn('true');
    await once(child, 'exit');
    expect(processState({ ...identity, pid: child.pid ?? 0 }, renamed)).toBe('ended');
    const linux = processIdentity();
    const [, namespace] = linux.host.split(' ');
    expect(processState({ ...linux, host: `elsewhere ${namespace}`, pid: child.pid ?? 0 })).toBe('ended');
    expect(processState({ ...linux, host: `${hostname()} pid:[1]`, pid: child.pid ?? 0 })).toBe('unknown');
  });

  it('lets a process of an earlier boot count as ended, unless it ran on another machine', () => {
    const identity = processIdentity(mac());
    const later = { boot: 'BOOT-2', name: 'dhcp-17.example.org' };
    expect(processState(identity, mac(later))).toBe('ended');
    expect(processState(identity, mac({ ...later, hardware: 'HARDWARE-2' }))).toBe('unknown');
    expect(processState(identity, mac({ boot: 'BOOT-2', hardware: 'HARDWARE-2' }))).toBe('unknown');
    const { machine, ...old } = identity;
    expect(machine).toMatch(/^[0-9a-f]{32}$/);
    expect(processState(old, mac(later))).toBe('unknown');
  });

  it('means another machine after a boot of Linux, where machines made from one image share an id', () => {
    const identity = { ...processIdentity(), bootId: 'another' };
    expect(processState(identity)).toBe('ended');
    expect(processState({ ...identity, host: 'node-2' })).toBe('unknown');
  });
});
