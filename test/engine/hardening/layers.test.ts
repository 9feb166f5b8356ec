import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '../../../src/core/types/runtime.ts';
import type { ProbeRow } from '../../../src/engines/engine/hardening/probes.ts';
import { connectForTest } from '../../support/engine.ts';
import { testImage } from '../../support/image.ts';
import { type Body, type Weaken, Weakened } from './weakened.ts';

type Rows = ReadonlyMap<string, ProbeRow>;

let dir: string;
let engine: Engine;
let containers: Weakened;
let on: Rows;
let onAsRoot: Rows;
/** Rows that were stopped with their layer and open without it. */
const shown = new Set<string>();

const host =
  (changes: Record<string, unknown>): Weaken =>
  (body) =>
    void Object.assign(body.HostConfig, changes);
const asRoot: Weaken = (body) => void Object.assign(body, { User: '0:0' });
const both =
  (...all: Weaken[]): Weaken =>
  (body) => {
    for (const one of all) one(body);
  };

/** Every capability that one of the attacks needs; none of them can do harm with the arguments they are given. */
const CAPABILITIES = [
  ...['SYS_ADMIN', 'SYS_PTRACE', 'SYS_CHROOT', 'SYS_MODULE', 'SYS_BOOT', 'SYS_RAWIO', 'SYS_PACCT', 'SYS_NICE'],
  ...['SYS_TIME', 'SYSLOG', 'DAC_READ_SEARCH', 'IPC_LOCK', 'NET_RAW', 'NET_ADMIN', 'MKNOD'],
  ...['SETUID', 'SETGID', 'SETPCAP', 'CHOWN'],
];
const UNCONFINED = { SecurityOpt: ['no-new-privileges', 'seccomp=unconfined'] };
const granted = both(asRoot, host({ CapAdd: CAPABILITIES }));

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'run-claude-layers-'));
  chmodSync(dir, 0o755);
  engine = await connectForTest(Weakened.owner);
  containers = await Weakened.open(engine, await testImage(engine));
  on = await containers.probe([]);
  onAsRoot = await containers.probe([], asRoot);
});

afterAll(async () => {
  await containers[Symbol.asyncDispose]();
  await engine.close();
  rmSync(dir, { recursive: true, force: true });
});

/**
 * With the layer every row of it is stopped (or the kernel lacks the feature); without it the same attack goes through,
 * except the rows named in `held`, each with what else stops it.
 */
function expectPair(layer: string, withIt: Rows, without: Rows, held: Readonly<Record<string, string>> = {}): void {
  const rows = [...withIt.values()].filter((row) => row.layer === layer);
  expect(rows.length).toBeGreaterThan(0);
  expect(rows.filter((row) => row.result === 'open')).toEqual([]);
  for (const { name, result } of rows) {
    if (result === 'stopped' && without.get(name)?.result === 'open') shown.add(name);
  }
  const unmoved = rows.filter((row) => row.result === 'stopped' && without.get(row.name)?.result === 'stopped');
  expect(unmoved.map((row) => row.name).filter((name) => !(name in held))).toEqual([]);
}

describe('with every layer on', () => {
  it('no attack succeeds as the agent’s user', () => {
    expect([...on.values()].filter((row) => row.result === 'open')).toEqual([]);
    expect([...on.values()].filter((row) => row.result === 'stopped').length).toBeGreaterThan(250);
  });

  it('no attack succeeds as uid 0 without capabilities, which owns root’s files', () => {
    expect([...onAsRoot.values()].filter((row) => row.result === 'open')).toEqual([]);
  });
});

describe('with one layer off, its attacks work', () => {
  it('seccomp: for a user without capabilities', async () => {
    const off = await containers.probe(['seccomp'], host(UNCONFINED));
    const opened = [...off.values()].filter((row) => row.result === 'open' && on.get(row.name)?.result === 'stopped');
    for (const row of opened) shown.add(row.name);
    expect(opened.length).toBeGreaterThan(80);
  });

  it('seccomp: for a user with every capability', async () => {
    const withIt = await containers.probe(['seccomp'], granted);
    const without = await containers.probe(['seccomp'], both(granted, host(UNCONFINED)));
    expectPair('seccomp', withIt, without);
  });

  it('capabilities', async () => {
    const off = await containers.probe(['capabilities'], granted);
    expectPair('capabilities', onAsRoot, off, {
      CapInh: 'engines give no inheritable ones',
      CapAmb: 'engines give no ambient ones',
      'ambient-raise': 'needs an inheritable one',
    });
  });

  it('no new privileges', async () => {
    const off = host({ SecurityOpt: (await seccompOption()) ?? [] });
    expectPair('no new privileges', on, await containers.probe(['no new privileges'], off));
  });

  it('read-only root', async () => {
    const off = await containers.probe(['read-only root'], both(asRoot, host({ ReadonlyRootfs: false })));
    expectPair('read-only root', onAsRoot, off);
  });

  it('masked and read-only paths', async () => {
    const open = host({ MaskedPaths: [], ReadonlyPaths: [] });
    const off = await containers.probe(['masked and read-only paths'], both(asRoot, open));
    const held = Object.fromEntries(
      [...onAsRoot.keys()].filter((name) => /^write\/sys\//.test(name)).map((name) => [name, 'sysfs is read-only']),
    );
    expectPair('masked and read-only paths', onAsRoot, off, {
      ...held,
      'read/proc/kcore': 'needs a capability',
      'read/proc/keys': 'shows only keys that may be seen',
      'read/proc/timer_list': 'needs a capability',
      'read/proc/vmallocinfo': 'needs a capability',
      'read/proc/modules': 'a kernel without modules',
      'read/proc/driver': 'empty on some machines',
      'read/sys/firmware': 'empty on some machines',
      'read/sys/hypervisor': 'empty on some machines',
      'read/sys/kernel/debug': 'not mounted in a container',
      'read/sys/kernel/tracing': 'not mounted in a container',
      'read/sys/devices/virtual/dmi': 'absent on some machines',
      'read/sys/devices/virtual/powercap': 'absent on some machines',
      'read/sys/fs/pstore': 'not mounted in a container',
      'read/etc/shadow': 'is no masked path: belongs to root',
    });
  });

  it('tmpfs options', async () => {
    const loose = { '/tmp': 'rw,exec,suid,dev,size=5g,mode=1777', '/run': 'rw,exec,suid,dev,size=5g,mode=1777' };
    const off = await containers.probe(['tmpfs options'], host({ Tmpfs: loose }));
    expectPair('tmpfs options', on, off, {
      'mount/': 'the read-only root, by its own layer',
      'mount/dev/shm': 'the engine’s own options',
      'mount/proc': 'the engine’s own options',
      'mount/sys': 'the engine’s own options',
    });
  });

  it('limits', async () => {
    const none = { Memory: 0, MemorySwap: 0, PidsLimit: 0, ShmSize: 5 * 2 ** 30 };
    const off = await containers.probe(['limits'], host({ ...none, Ulimits: [] }));
    expectPair('limits', on, off, { 'open-files-bomb': 'the engine’s own limit, where it has a low one' });
  });

  it('namespaces', async () => {
    const none: Weaken = (body) => delete body.Hostname;
    const merged = new Map([
      ...rowsNamed(await containers.probe(['namespaces'], host({ PidMode: 'host' })), 'host-processes'),
      ...rowsNamed(await containers.probe(['namespaces'], host({ CgroupnsMode: 'host' })), 'cgroup-path'),
      ...rowsNamed(await containers.probe(['namespaces'], both(none, host({ UTSMode: 'host' }))), 'hostname'),
    ]);
    expectPair('namespaces', on, merged);
  });

  it('network none', async () => {
    const bridge = await containers.probe(['network none'], host({ NetworkMode: 'bridge' }));
    // The host's network takes neither sysctls nor a resolver from run-claude. Nothing is sent: see images/probes.
    const shared = await containers.probe(['network none'], host({ NetworkMode: 'host', Sysctls: {}, Dns: [] }));
    const held = { 'abstract-sockets': 'a machine without any has none to see' };
    expectPair('network none', on, new Map([...bridge, ...rowsNamed(shared, 'abstract-sockets')]), held);
  });

  it('no resolver, low ports or ping', async () => {
    const layer = 'no resolver, low ports or ping';
    // The engine's own bridge: without a network of any kind it copies the host's resolver as well.
    const off = await containers.probe([layer], host({ Sysctls: {}, Dns: [], DnsSearch: [] }));
    expectPair(layer, on, off, { resolver: 'a host whose resolver is on loopback' });
  });

  it('environment allowlist', async () => {
    const names = [...on.keys()].filter((name) => name.startsWith('variable-')).map((name) => name.slice(9));
    const off = await containers.probe(['environment allowlist'], (body) => {
      body.Env.push(...names.filter((name) => name !== 'LD_PRELOAD').map((name) => `${name}=x`), 'LD_PRELOAD=');
    });
    expectPair('environment allowlist', on, off);
  });

  it('nothing of the host inside', async () => {
    const file = join(dir, 'program');
    writeFileSync(file, '', { mode: 0o755 });
    const paths = [...on.keys()].filter((name) => name.startsWith('exists/')).map((name) => name.slice(6));
    const devices = paths.filter((path) => path.startsWith('/dev/'));
    const files = paths.filter((path) => !path.startsWith('/dev/') && !path.startsWith('/var/run'));
    const given = {
      Devices: devices.map((path) => ({ PathOnHost: '/dev/null', PathInContainer: path, CgroupPermissions: 'r' })),
      Binds: files.map((path) => `${file}:${path}:ro`),
    };
    const off = await containers.probe(['nothing of the host inside'], host(given));
    expectPair('nothing of the host inside', on, off, {
      'home-in-mountinfo': 'no directory below /home is given here',
      'users-in-mountinfo': 'no directory below /Users is given here',
    });
  });

  it('no setuid bits', async () => {
    const dirs = [...on.keys()].filter((name) => name.startsWith('setid/')).map((name) => name.slice(5));
    const plant = dirs.map((path) => `cp /bin/true ${path}/planted && chmod u+s ${path}/planted`).join(' && ');
    const weaken = both(asRoot, host({ ReadonlyRootfs: false }), (body: Body) => {
      const [init = '', ...rest] = [...body.Entrypoint, ...body.Cmd];
      const words = rest.slice(1).map((word) => `'${word}'`);
      body.Entrypoint = [init];
      body.Cmd = ['--', 'sh', '-c', `${plant} && exec ${words.join(' ')}`];
    });
    expectPair('no setuid bits', onAsRoot, await containers.probe(['no setuid bits'], weaken));
  });

  it.each([
    ['nodump guard', 'git-guard.so'],
    ['git guard', 'nodump.so'],
  ])('%s', async (layer, other) => {
    const list = join(dir, other);
    writeFileSync(list, `/usr/lib/run-claude/${other}\n`, { mode: 0o644 });
    const off = await containers.probe([layer], host({ Binds: [`${list}:/etc/ld.so.preload:ro`] }));
    expectPair(layer, on, off);
  });

  it('own init', async () => {
    const engines: Weaken = (body) => {
      body.HostConfig['Init'] = true;
      body.Entrypoint = [body.Cmd[1] ?? ''];
      body.Cmd = body.Cmd.slice(2);
    };
    expectPair('own init', on, await containers.probe(['own init'], engines), {
      'init-mem': 'where the kernel keeps memory from all but a tracer',
    });
  });

  it('at least 150 attacks are shown both ways', () => {
    expect(shown.size).toBeGreaterThan(150);
    const layers = new Set([...shown].map((name) => on.get(name)?.layer));
    expect(layers.size).toBe(new Set([...on.values()].map((row) => row.layer)).size);
  });
});

describe('the layers by name', () => {
  it('are those of docs/explanation/threat-model.md', () => {
    const document = readFileSync(new URL('../../../docs/explanation/threat-model.md', import.meta.url), 'utf8');
    for (const layer of new Set([...on.values()].map((row) => row.layer))) {
      expect(document.toLowerCase()).toContain(`| ${layer.toLowerCase()} `);
    }
  });
});

function rowsNamed(rows: Rows, name: string): readonly (readonly [string, ProbeRow])[] {
  return [...rows].filter(([one]) => one === name);
}

/** Our profile as the only security option: no-new-privileges is what it lacks. */
async function seccompOption(): Promise<string[]> {
  let options: string[] = [];
  await containers.run(['true'], (body) => {
    options = (body.HostConfig['SecurityOpt'] as string[]).filter((one) => one.startsWith('seccomp='));
  });
  return options;
}
