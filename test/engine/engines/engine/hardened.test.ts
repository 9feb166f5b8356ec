import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dockerCommand } from '../../../../src/cli/run/docker-command.ts';
import type { ContainerSpec } from '../../../../src/core/types/engine.ts';
import type { Engine } from '../../../../src/core/types/runtime.ts';
import { ALL_GPUS, containerBody } from '../../../../src/engines/engine/body.ts';
import { compareRecord } from '../../../../src/engines/engine/compare-record.ts';
import { agentSpec, collectorSpec, taskSpec } from '../../../../src/engines/engine/hardening/hardened.ts';
import { readSeccompProfile, SECCOMP_FILE } from '../../../../src/engines/engine/hardening/seccomp.ts';
import { connectForTest } from '../../../support/engine.ts';
import { testImage } from '../../../support/image.ts';
import { inspectContainer, requestEngine } from '../../../support/raw-engine.ts';

const sessionId = `test-${randomBytes(4).toString('hex')}`;
let engine: Engine;
let agent: ContainerSpec;
let parts: { sessionId: string; image: string; seccomp: string };

beforeAll(async () => {
  engine = await connectForTest();
  parts = { sessionId, image: await testImage(engine), seccomp: await readSeccompProfile() };
  agent = agentSpec({
    ...parts,
    user: '1000:1000',
    argv: ['true'],
    forwards: [],
    env: { PATH: '/usr/bin:/bin' },
    workdir: '/tmp',
    mounts: [],
    network: 'none',
    limits: { memoryMb: 512, cpus: 1, pids: 128, tmpMb: 32 },
    tty: false,
    stdin: 'none',
  });
});

afterAll(async () => {
  for (const found of await engine.list()) await (await engine.running.find(found.name))?.remove();
  await engine.close();
});

describe('the comparison with the engine’s record', () => {
  it('accepts each of run-claude’s containers', async () => {
    const specs = [
      agent,
      { ...agent, name: `${agent.name}-tty`, tty: true, stdin: 'stream' as const },
      { ...agent, name: `${agent.name}-names`, loopbackNames: ['db', 'queue.internal'] },
      // Created and never started: that needs a driver.
      { ...agent, name: `${agent.name}-gpus`, gpus: true as const },
      collectorSpec({ ...parts, argv: ['true'], mounts: [], stdin: 'stream' }),
      taskSpec({ ...parts, argv: ['true'], user: '1000:1000', mounts: [], stdin: 'none' }),
    ];
    for (const spec of specs) await (await engine.create(spec)).remove();
  });

  it('accepts the command of --dry-run too, except where docker run lacks an option', async () => {
    const style = { seccompFile: SECCOMP_FILE, masked: new Set<string>(), owner: engine.facts.name };
    const env = { ...agent.env, ODD: `it's "quoted", $HOME` };
    const source = mkdtempSync(path.join(tmpdir(), 'run-claude-odd, '));
    const mounts = [...agent.mounts, { kind: 'bind', source, target: '/odd, place', readonly: true } as const];
    const specs: ContainerSpec[] = [
      { ...agent, name: `${agent.name}-printed`, env, mounts, tty: true, stdin: 'stream' },
      collectorSpec({ ...parts, argv: ['true'], mounts: [], stdin: 'stream' }),
    ];
    for (const spec of specs) {
      const command = dockerCommand(spec, style).replace('docker run --rm', 'docker create');
      const id = execFileSync('sh', ['-c', command], { encoding: 'utf8' }).trim();
      try {
        const found = compareRecord(spec, await inspectContainer(id));
        expect(found.filter((one) => !/^(masked|read-only) path/.test(one))).toEqual([]);
      } finally {
        execFileSync('docker', ['rm', id]);
      }
    }
    rmSync(source, { recursive: true });
  });

  type Body = { HostConfig: Record<string, unknown> } & Record<string, unknown>;
  const weaker: readonly (readonly [string, (body: Body) => void, RegExp])[] = [
    ['a capability', (b) => Object.assign(b.HostConfig, { CapAdd: ['NET_RAW'] }), /capabilities kept/],
    ['the capability drop', (b) => Object.assign(b.HostConfig, { CapDrop: [] }), /capabilities dropped/],
    [
      'no-new-privileges and seccomp',
      (b) => Object.assign(b.HostConfig, { SecurityOpt: [] }),
      /no-new-privileges.*seccomp/,
    ],
    [
      'unconfined seccomp',
      (b) => Object.assign(b.HostConfig, { SecurityOpt: ['no-new-privileges', 'seccomp=unconfined'] }),
      /seccomp/,
    ],
    [
      'another security option',
      (b) => (b.HostConfig['SecurityOpt'] as string[]).push('label=disable'),
      /label=disable/,
    ],
    ['a writable root', (b) => Object.assign(b.HostConfig, { ReadonlyRootfs: false }), /read-only root/],
    ['privilege', (b) => Object.assign(b.HostConfig, { Privileged: true }), /privileged/],
    ['the bridge', (b) => Object.assign(b.HostConfig, { NetworkMode: 'bridge' }), /network/],
    ['the host’s network', (b) => Object.assign(b.HostConfig, { NetworkMode: 'host', Sysctls: {} }), /network/],
    ['the host’s processes', (b) => Object.assign(b.HostConfig, { PidMode: 'host' }), /process namespace/],
    ['the host’s IPC', (b) => Object.assign(b.HostConfig, { IpcMode: 'host' }), /IPC/],
    [
      'the host’s host name',
      (b) => Object.assign(b.HostConfig, { UTSMode: 'host' }) && delete b['Hostname'],
      /host name namespace/,
    ],
    ['the host’s cgroups', (b) => Object.assign(b.HostConfig, { CgroupnsMode: 'host' }), /cgroup namespace/],
    ['more memory', (b) => Object.assign(b.HostConfig, { Memory: 2 ** 31, MemorySwap: 2 ** 31 }), /memory limit/],
    ['swap', (b) => Object.assign(b.HostConfig, { MemorySwap: -1 }), /swap/],
    ['no process limit', (b) => Object.assign(b.HostConfig, { PidsLimit: 0 }), /process limit/],
    ['no processor limit', (b) => Object.assign(b.HostConfig, { NanoCpus: 0 }), /processor limit/],
    ['core dumps', (b) => Object.assign(b.HostConfig, { Ulimits: [] }), /core dump limit/],
    ['more shared memory', (b) => Object.assign(b.HostConfig, { ShmSize: 2 ** 30 }), /shared memory/],
    [
      'a device',
      (b) =>
        Object.assign(b.HostConfig, {
          Devices: [{ PathOnHost: '/dev/null', PathInContainer: '/dev/x', CgroupPermissions: 'r' }],
        }),
      /devices/,
    ],
    ['graphics processors', (b) => Object.assign(b.HostConfig, { DeviceRequests: [ALL_GPUS] }), /device requests/],
    ['a group', (b) => Object.assign(b.HostConfig, { GroupAdd: ['0'] }), /groups/],
    ['a mount', (b) => Object.assign(b.HostConfig, { Binds: ['/tmp:/host:ro'] }), /\/host was mounted besides/],
    [
      'a volume of the image',
      (b) => Object.assign(b, { Volumes: { '/var/data': {} } }),
      /\/var\/data was mounted besides/,
    ],
    [
      'a smaller list of masks',
      (b) => Object.assign(b.HostConfig, { MaskedPaths: ['/proc/kcore'] }),
      /masked path \/proc\/cmdline/,
    ],
    ['no read-only paths', (b) => Object.assign(b.HostConfig, { ReadonlyPaths: [] }), /read-only path \/proc\/sys/],
    [
      'a tmpfs with device nodes',
      (b) => Object.assign(b.HostConfig, { Tmpfs: { '/tmp': 'size=32m', '/run': 'size=16m' } }),
      /\/tmp option nodev/,
    ],
    ['a log', (b) => Object.assign(b.HostConfig, { LogConfig: { Type: 'json-file', Config: {} } }), /log driver/],
    ['a restart', (b) => Object.assign(b.HostConfig, { RestartPolicy: { Name: 'always' } }), /restart/],
    ['open ports', (b) => Object.assign(b.HostConfig, { Sysctls: {} }), /unprivileged_port/],
    ['host names', (b) => Object.assign(b.HostConfig, { ExtraHosts: ['a:1.2.3.4'] }), /host names/],
    ['another user', (b) => Object.assign(b, { User: '0' }), /user/],
    ['a variable', (b) => (b['Env'] as string[]).push('LD_PRELOAD=/x'), /LD_PRELOAD comes from elsewhere/],
    ['another program', (b) => Object.assign(b, { Cmd: ['false'] }), /program/],
  ];

  it.each(weaker)('notices %s', async (_name, weaken, expected) => {
    const spec = { ...agent, name: `${agent.name}-weak` };
    const body = structuredClone(containerBody(spec, 'feedfeedfeedfeed')) as unknown as Body;
    weaken(body);
    const { Id } = await requestEngine<{ Id: string }>('POST', `/containers/create?name=${spec.name}`, body);
    try {
      expect(compareRecord(spec, await inspectContainer(Id)).join('; ')).toMatch(expected);
    } finally {
      await requestEngine('DELETE', `/containers/${Id}?force=1&v=1`);
    }
  });
});

describe('the inside', () => {
  it('has no capabilities, no network, and the planned mounts and limits', async () => {
    const script = `
      grep -hE '^(Cap|NoNewPrivs|Seccomp:|Groups)' /proc/self/status
      hostname; id; ls /sys/class/net; cat /etc/resolv.conf /proc/self/cgroup
      grep -E ' (/tmp|/run|/dev/shm) ' /proc/self/mountinfo
      wc -c /proc/cmdline /proc/kallsyms; ls /sys/module | wc -l
      cat /sys/fs/cgroup/pids/pids.max /sys/fs/cgroup/memory/memory.limit_in_bytes
      touch /x /etc/x /usr/x; touch /tmp/ok /run/ok && echo writable
      ulimit -c -H; ulimit -n -H; ulimit -n`;
    const container = await engine.create({
      ...agent,
      name: `${agent.name}-in`,
      argv: ['sh', '-c', `(${script}) 2>&1`],
    });
    const printed = text(container.stdout);
    await container.start();
    await container.wait();
    await container.remove();
    const output = await printed;
    for (const name of ['Inh', 'Prm', 'Eff', 'Bnd', 'Amb']) expect(output).toContain(`Cap${name}:\t0000000000000000`);
    expect(output).toMatch(/NoNewPrivs:\s1/);
    expect(output).toMatch(/Seccomp:\s2/);
    expect(output).toMatch(/\nsandbox\nuid=1000\(agent\) gid=1000\(agent\) groups=1000\(agent\)\nlo\n/);
    expect(output).toContain('nameserver 127.0.0.1');
    expect(output).toMatch(/ \/tmp rw,nosuid,nodev,relatime/);
    expect(output).toMatch(/ \/run rw,nosuid,nodev,noexec,relatime/);
    expect(output).toMatch(/ \/dev\/shm rw,nosuid,nodev,noexec/);
    expect(output).toMatch(/\b0 \/proc\/cmdline\n\s*0 \/proc\/kallsyms/);
    expect(output).toMatch(/\n128\n536870912\n/);
    expect(output.match(/Read-only file system/g)).toHaveLength(3);
    expect(output).toMatch(/writable\n0\n16384\n16384\n$/);
  });
});
