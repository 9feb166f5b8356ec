import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ContainerSpec } from '../../../src/core/types/engine.ts';
import type { Engine } from '../../../src/core/types/runtime.ts';
import { ownerOf } from '../../../src/engines/engine/connect.ts';
import { PROBES, readProbes } from '../../../src/engines/engine/hardening/probes.ts';
import { withProof } from '../../../src/engines/engine/hardening/proof.ts';
import { podmanBody } from '../../../src/engines/engine/podman/podman-body.ts';
import { comparePodmanRecord } from '../../../src/engines/engine/podman/podman-record.ts';
import { connectForTest, runToEnd } from '../../support/engine.ts';
import { Podman } from '../../support/podman.ts';
import { requestEngine } from '../../support/raw-engine.ts';
import { Scene } from '../../support/scene.ts';
import { waitForOutput } from '../../support/sees.ts';
import { nodeService, sceneWithServices } from '../../support/service-scene.ts';
import { startMessagesApi } from '../../support/stand-in/messages-api.mjs';
import { gcAfterBuilds } from '../environment/image/stale-images.ts';
import { agentLike } from './weakened.ts';

const KEY = 'sk-ant-REAL-CREDENTIAL-9c1f7a';
const OWNER = ownerOf(`test ${process.pid}`);
const podman = new Podman();
let image: string;
let engine: Engine;

beforeAll(async () => {
  await podman.start('crun');
  image = await podman.bringImage();
  engine = await connectForTest(OWNER, { DOCKER_HOST: podman.host });
});
afterAll(async () => {
  await engine.close();
  await podman[Symbol.asyncDispose]();
});

const scene = (options: ConstructorParameters<typeof Scene>[0] = {}): Scene =>
  new Scene({ ...options, env: { DOCKER_HOST: podman.host } });

const agent = (argv: readonly string[], user?: string): Promise<ContainerSpec> => agentLike(image, argv, user);

interface Body extends Record<string, unknown> {
  mask: string[];
  mounts: { destination: string; options: string[] }[];
}
type Weaken = (body: Body) => void;

/** Runs it with a layer taken away behind our own code's back. */
async function weakened(spec: ContainerSpec, weaken: Weaken): Promise<{ said: string; status: number }> {
  const { cgroupVersion } = engine.facts;
  const body = podmanBody(spec, { owner: OWNER, overlays: new Map(), cgroupVersion }) as unknown as Body;
  weaken(body);
  await requestEngine('POST', '/v4.0.0/libpod/containers/create', body, podman.socket);
  const made = await engine.running.find(spec.name);
  if (made === undefined) throw new Error(`${spec.name} is gone`);
  return runToEnd(made);
}

const set =
  (changes: Record<string, unknown>): Weaken =>
  (body) =>
    void Object.assign(body, changes);

describe.each(['crun', 'runc'] as const)('with %s', (runtime) => {
  beforeAll(async () => {
    await engine.close();
    await podman.start(runtime);
    engine = await connectForTest(OWNER, { DOCKER_HOST: podman.host });
  });

  it('no attack of the probes succeeds, and doctor lists the layers', async () => {
    await using person = scene();
    const probed = await person.run(['doctor', '--probe', '--json']);
    const rows = JSON.parse(probed.stdout) as { name: string; layer: string; result: string }[];
    expect(rows.filter((row) => row.result === 'open')).toEqual([]);
    const stopped = rows.filter((row) => row.result === 'stopped');
    expect(stopped.length).toBeGreaterThan(280);
    expect(new Set(stopped.map((row) => row.layer)).size).toBe(16);
    expect(probed.status).toBe(0);
    expect((await person.run(['doctor'])).stdout).toMatch(/^ok +Protection +all layers hold$/m);
  });

  it('limits take effect', async () => {
    // With cgroup v1 nobody inside sees them.
    const bomb = 'for i in $(seq 200); do sleep 60 & done 2>&1 | grep -m1 -o "Resource temporarily unavailable"';
    const processes = await runToEnd(await engine.create(await agent(['bash', '-c', bomb])));
    expect(processes.said).toContain('Resource temporarily unavailable');
    const hog = "node -e 'const all = []; for (;;) all.push(Buffer.alloc(1 << 20, 1))'; echo $?";
    expect((await runToEnd(await engine.create(await agent(['bash', '-c', hog])))).said).toContain('137');
  });

  it('Claude Code works in it, and its work is applied; neither the credential nor the host’s names are inside', async () => {
    const command =
      'echo from-claude >> README.md; env > environment.txt; cat /etc/hosts /etc/resolv.conf > names.txt; ls -ld . > owner.txt; git log --oneline | wc -l > commits.txt; grep -rs REAL[-]CREDENTIAL /home/agent /run /tmp > found.txt; true';
    const standIn = await startMessagesApi({
      turns: [
        { text: 'On it.', tools: [{ name: 'Bash', input: { command, description: 'step' } }] },
        { text: 'finished' },
      ],
    });
    await using person = scene({ apiUrl: standIn.url, apiKey: KEY });
    const session = await person.run(['--yes', '--auto-apply', person.project, '-p', 'go']);
    await standIn.close();
    expect([session.status, session.stderr]).toEqual([0, expect.stringContaining('a copy (layers)')]);
    expect(session.stdout).toContain('finished');
    expect(session.stdout).not.toContain('proven');
    const read = (name: string): string => readFileSync(path.join(person.project, name), 'utf8');
    expect(read('README.md')).toContain('from-claude');
    expect(read('names.txt')).toBe('127.0.0.1\tlocalhost sandbox\n::1\tlocalhost\nnameserver 127.0.0.1\nsearch .\n');
    expect([read('commits.txt').trim(), read('found.txt')]).toEqual(['3', '']);
    expect(read('owner.txt')).toMatch(/^d.* agent agent /);
    expect(read('environment.txt')).not.toContain('REAL-CREDENTIAL');
    expect(standIn.requests.some(({ headers }) => headers['x-api-key'] === KEY)).toBe(true);
    expect(podman.docker('ps', '-aq') + podman.docker('volume', 'ls', '-q')).toBe('');
  });
});

it('a service serves the agent by its name, from a copy of what its seed made', async () => {
  await using person = sceneWithServices(
    nodeService(
      'web',
      8000,
      "const fs=require('fs');require('http').createServer((r,a)=>{fs.appendFileSync('/data/page','x');a.end(fs.readFileSync('/data/page'))}).listen(8000,'127.0.0.1');process.on('SIGTERM',()=>process.exit(0))",
      'seed = "echo -n seeded >/data/page"',
    ),
    { env: { DOCKER_HOST: podman.host } },
  );
  const script = 'curl -sS http://web:8000 http://127.0.0.1:8000; cat /etc/hosts';
  for (const round of ['first', 'again']) {
    const ran = await person.run(['exec', '--', 'bash', '-c', script]);
    expect(ran.stdout, ran.stderr).toBe('seededxseededxx127.0.0.1\tlocalhost sandbox web\n::1\tlocalhost\n');
    expect(ran.stderr.includes('Running the seed')).toBe(round === 'first');
  }
  const left = podman.docker('volume', 'ls', '-q').trim().split('\n');
  expect(left).toEqual([expect.stringMatching(/^run-claude-seed-/)]);
  podman.docker('volume', 'rm', ...left);
  expect(podman.docker('ps', '-aq')).toBe('');
});

it('bind mode and pending changes work as on Docker', async () => {
  await using person = scene();
  const bound = await person.run([
    'exec',
    '--bind',
    '--yes',
    person.project,
    '--',
    'sh',
    '-c',
    'echo x > made.txt; id -u',
  ]);
  expect(bound.stdout).toBe('0\n');
  expect(readFileSync(path.join(person.project, 'made.txt'), 'utf8')).toBe('x\n');
  const waiting = await person.run(['exec', person.project, '--', 'sh', '-c', 'rm README.md; echo y > later.txt']);
  expect(waiting.status).toBe(120);
  expect((await person.run(['diff', '--name-only'])).stdout).toBe('README.md\nlater.txt\n');
  const applied = await person.run(['apply', '--yes']);
  expect([applied.status, person.git('status', '--short')]).toEqual([0, ' D README.md\n?? later.txt\n?? made.txt\n']);
  // Next to a pending session: it uses a base of two trees, which the runtime joins for the agent and for its reader.
  await person.run(['exec', person.project, '--', 'sh', '-c', 'echo more >> later.txt']);
  person.write('src/file2.txt', 'edited on the host\n');
  const beside = await person.run([
    'exec',
    person.project,
    '--',
    'sh',
    '-c',
    'cat src/file2.txt; echo x >> src/file2.txt',
  ]);
  expect([beside.status, beside.stdout]).toEqual([120, 'edited on the host\n']);
  expect((await person.run(['diff'])).stdout).toMatch(
    /^\+\+\+ b\/src\/file2\.txt\n@@ .*\n edited on the host\n\+x\n$/m,
  );
});

it('the gateway of a killed command ends with it, and the next command keeps the session’s changes', async () => {
  await using person = scene();
  const child = person.spawn(['exec', person.project, '--', 'sh', '-c', 'echo work > work.txt; echo ready; sleep 900']);
  await waitForOutput(child, 'ready');
  child.kill('SIGKILL');
  await expect.poll(() => podman.docker('ps', '-q', '--filter', 'name=-gateway')).toBe('');
  const listed = JSON.parse((await person.run(['sessions', '--json'])).stdout) as { id: string }[];
  await person.run(['status']);
  expect((await person.run(['diff', '--name-only', listed[0]?.id ?? ''])).stdout).toBe('work.txt\n');
  await person.run(['discard', '--yes']);
});

const EVERY = [
  ...['SYS_ADMIN', 'SYS_PTRACE', 'SYS_CHROOT', 'SYS_BOOT', 'SYS_TIME', 'SYSLOG', 'NET_RAW', 'NET_ADMIN'],
  ...['DAC_READ_SEARCH', 'MKNOD', 'SETUID', 'SETGID', 'CHOWN'],
].map((name) => `CAP_${name}`);

describe('without one layer', () => {
  const mounted =
    (at: string, options: string[]): Weaken =>
    (body) => {
      for (const mount of body.mounts) if (mount.destination === at) mount.options = options;
    };
  const loose = mounted('/tmp', ['rw', 'exec', 'suid', 'dev']);
  const large = mounted('/dev/shm', ['rw', 'nosuid', 'nodev', 'noexec', 'size=5g', 'mode=1777']);
  it.each<readonly [string, string, Weaken, RegExp]>([
    ['seccomp', '1000:1000', set({ seccomp_profile_path: 'unconfined' }), /seccomp: no filter/],
    ['capabilities', '0:0', set({ cap_add: EVERY }), /capabilities: CapPrm is/],
    ['no new privileges', '1000:1000', set({ no_new_privileges: false }), /no new privileges: not set/],
    ['read-only root', '0:0', set({ read_only_filesystem: false }), /read-only root: \/ is writable/],
    ['masked and read-only paths', '0:0', set({ mask: [], unmask: ['ALL'] }), /paths: .*kallsyms is not masked/],
    ['no resolver, low ports or ping', '1000:1000', set({ sysctl: {} }), /ping_group_range is 0/],
    ['limits', '1000:1000', large, /\/dev\/shm is larger than asked for/],
    ['tmpfs options', '1000:1000', loose, /tmpfs options: \/tmp lacks nosuid/],
    ['namespaces', '1000:1000', set({ cgroupns: { nsmode: 'host' } }), /namespaces: cgroup is the host's/],
    ['network none', '1000:1000', set({ netns: { nsmode: 'bridge' } }), /network none: there is a route/],
  ])('%s: attacks work, and the proof from inside names it', async (layer, user, weaken, named) => {
    const attacked = await weakened(await agent([PROBES, layer], user), weaken);
    expect(readProbes(attacked.said).some((row) => row.layer === layer && row.result === 'open')).toBe(true);
    const { said, status } = await weakened(withProof(await agent(['echo', 'the program ran'], user)), weaken);
    expect(said.trim()).toMatch(named);
    expect(said).not.toContain('the program ran');
    expect(status).toBe(125);
  });

  it('the host’s IPC namespace, which Podman’s record does not distinguish, is detected from inside', async () => {
    const shared = set({ ipcns: { nsmode: 'host' }, shm_size: undefined });
    const { said, status } = await weakened(withProof(await agent(['echo', 'the program ran'])), shared);
    expect(said).toContain("namespaces: ipc is the host's");
    expect([said.includes('the program ran'), status]).toEqual([false, 125]);
  });

  it('a wrong option that Podman’s record shows is refused before the start', async () => {
    const changes: readonly (readonly [Weaken, RegExp])[] = [
      [set({ cap_add: ['CAP_NET_RAW'] }), /capabilities kept/],
      [set({ privileged: true }), /privileged/],
      [set({ log_configuration: { driver: 'k8s-file' } }), /log driver/],
      [set({ cgroupns: { nsmode: 'host' } }), /cgroup namespace/],
      [set({ utsns: { nsmode: 'host' }, hostname: '' }), /host name namespace/],
      [set({ resource_limits: {} }), /memory limit.*process limit/],
      [set({ r_limits: [{ type: 'nproc', soft: 4096, hard: 4096 }] }), /core dump limit.*open file limit/],
      [set({ user: '0:0' }), /user/],
      [set({ unsetenvall: false, env: {} }), /HOME is not as asked/],
      [
        (body) => body.mounts.push({ ...body.mounts[0], destination: '/host', options: [] } as never),
        /\/host was mounted/,
      ],
      [set({ restart_policy: 'always' }), /restart/],
    ];
    for (const [weaken, expected] of changes) {
      const spec = withProof(await agent(['true']));
      const overlays = new Map<string, readonly string[]>();
      const { cgroupVersion } = engine.facts;
      const body = podmanBody(spec, { owner: OWNER, overlays, cgroupVersion }) as unknown as Body;
      weaken(body);
      await requestEngine('POST', '/v4.0.0/libpod/containers/create', body, podman.socket);
      const at = `/v4.0.0/libpod/containers/${spec.name}`;
      const record = await requestEngine('GET', `${at}/json`, undefined, podman.socket);
      expect(comparePodmanRecord(spec, record, overlays).join('; ')).toMatch(expected);
      await requestEngine('DELETE', `${at}?force=true`, undefined, podman.socket);
    }
  });
});

it('images are built through Podman’s own API by name and tag, and gc removes leftovers of builds', () =>
  gcAfterBuilds(engine, podman.socket));
