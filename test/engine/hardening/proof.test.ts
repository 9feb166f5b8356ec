import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Engine } from '../../../src/core/types/runtime.ts';
import { containerBody } from '../../../src/engines/engine/body.ts';
import { openClient } from '../../../src/engines/engine/connection/client.ts';
import { attachContainer } from '../../../src/engines/engine/containers/container.ts';
import { withProof } from '../../../src/engines/engine/hardening/proof.ts';
import { connectForTest } from '../../support/engine.ts';
import { testImage } from '../../support/image.ts';
import { requestEngine } from '../../support/raw-engine.ts';
import { type Body, type Weaken, Weakened } from './weakened.ts';

// What an engine would do that takes every option, records it, and leaves one out: seen inside, before any program.

let engine: Engine;
let containers: Weakened;

beforeAll(async () => {
  engine = await connectForTest(Weakened.owner);
  containers = await Weakened.open(engine, await testImage(engine));
});
afterAll(async () => {
  await containers[Symbol.asyncDispose]();
  await engine.close();
});

const host =
  (changes: (config: Record<string, unknown>) => Record<string, unknown>): Weaken =>
  (body) =>
    void Object.assign(body.HostConfig, changes(body.HostConfig));
const plain = (changes: Record<string, unknown>): Weaken => host(() => changes);
const without = (name: string, one: string): Weaken =>
  host((config) => ({ [name]: (config[name] as string[]).filter((path) => path !== one) }));
const seccompOf = (config: Record<string, unknown>): string[] =>
  (config['SecurityOpt'] as string[]).filter((one) => one.startsWith('seccomp='));

it('a container with every option prints the proof as its first line, and its program runs', async () => {
  const { said, status } = await containers.run(['echo', 'the program ran'], undefined, { proved: true });
  expect([said, status]).toEqual(['proven\nthe program ran\n', 0]);
});

it('a created container with a missing option does not start, and the error names the option', async () => {
  const spec = withProof(containers.spec(['echo', 'the program ran']));
  const body = structuredClone(containerBody(spec, Weakened.owner)) as unknown as Body;
  body.HostConfig['ReadonlyRootfs'] = false;
  await requestEngine('POST', `/containers/create?name=${spec.name}`, body);
  const client = openClient({ kind: 'unix', path: engine.facts.endpoint.replace('unix://', '') });
  const options = { name: spec.name, tty: false, stdin: false, running: false, proved: true };
  const made = await attachContainer(client, (await client.docker()).getContainer(spec.name), options);
  const said = text(made.stdout);
  await expect(made.start()).rejects.toMatchObject({
    code: 'ENGINE_LAYER_MISSING',
    message: expect.stringMatching(/seen from inside, .* is not as asked: read-only root: \/ is writable$/),
  });
  expect(await said).toBe('');
  await made.remove();
  await client.close();
});

it.each<readonly [string, Weaken, RegExp]>([
  ['a capability', plain({ CapAdd: ['NET_RAW'] }), /capabilities: CapBnd is 2000/],
  ['new privileges', host((config) => ({ SecurityOpt: seccompOf(config) })), /no new privileges: not set/],
  ['no filter', plain({ SecurityOpt: ['no-new-privileges', 'seccomp=unconfined'] }), /seccomp: no filter/],
  [
    'the engine’s own filter',
    plain({ SecurityOpt: ['no-new-privileges'] }),
    /seccomp: not run-claude's profile, io_uring_setup is not refused.*becoming dumpable is not refused/,
  ],
  ['a writable root', plain({ ReadonlyRootfs: false }), /read-only root: \/ is writable/],
  ['one mask less, a file', without('MaskedPaths', '/proc/kallsyms'), /paths: \/proc\/kallsyms is not masked$/],
  ['one mask less, a folder', without('MaskedPaths', '/sys/module'), /paths: \/sys\/module is not masked$/],
  ['one mask less, a closed file', without('MaskedPaths', '/proc/vmallocinfo'), /\/proc\/vmallocinfo is not masked$/],
  ['one read-only path less', without('ReadonlyPaths', '/proc/sys'), /paths: \/proc\/sys is writable$/],
  ['low ports', plain({ Sysctls: {} }), /ports or ping: net\.ipv4\.ip_unprivileged_port_start is 0/],
  ['more open files', plain({ Ulimits: [{ Name: 'core', Soft: 1, Hard: 1 }] }), /limits: nofile is/],
  ['no limit on cores', plain({ Ulimits: [{ Name: 'nofile', Soft: 16_384, Hard: 16_384 }] }), /limits: core is/],
  ['more memory', plain({ Memory: 2 ** 30, MemorySwap: 2 ** 30 }), /limits: memory is 1073741824/],
  ['no limit of processes', plain({ PidsLimit: 0 }), /limits: pids is max/],
  ['more shared memory', plain({ ShmSize: 2 ** 30 }), /tmpfs options: \/dev\/shm is larger/],
  [
    'setuid bits in /tmp',
    plain({ Tmpfs: { '/tmp': 'rw,exec,suid,dev,size=32m', '/run': 'rw,nosuid,nodev,noexec,size=16m' } }),
    /tmpfs options: \/tmp lacks nosuid/,
  ],
  ['the host’s processes', plain({ PidMode: 'host' }), /namespaces: pid is the host's; .*not the first/],
  ['the host’s IPC', plain({ IpcMode: 'host' }), /namespaces: ipc is the host's/],
  ['the host’s cgroups', plain({ CgroupnsMode: 'host' }), /namespaces: cgroup is the host's/],
  ['another host name', (body: Body) => void Object.assign(body, { Hostname: 'other' }), /the host name is other/],
  ['a network', plain({ NetworkMode: 'bridge' }), /network none: there is a route/],
])('%s: is named, and the program never runs', async (_name, weaken, expected) => {
  const { said, status } = await containers.run(['echo', 'the program ran'], weaken, { proved: true });
  expect(said.trim()).toMatch(expected);
  expect(said).not.toContain('the program ran');
  expect(status).toBe(125);
});
