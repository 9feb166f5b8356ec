import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Daemon } from '../../support/daemon.ts';
import { Scene } from '../../support/scene.ts';
import { SecondEngine } from '../../support/second-engine.ts';
import { startMessagesApi } from '../../support/stand-in/messages-api.mjs';

// runsc and rootlesskit come with scripts/install-tools.sh long.

/** What the user reads on that engine: from the doctor, and from a session. */
async function refused(host: string): Promise<{ doctor: string; session: { status: number; stderr: string } }> {
  await using scene = new Scene({ env: { DOCKER_HOST: host } });
  const before = scene.fingerprint();
  const doctor = await scene.run(['doctor']);
  const session = await scene.run(['exec', '--yes', scene.project, '--', 'true']);
  expect(scene.fingerprint()).toBe(before);
  return { doctor: doctor.stdout, session };
}

it('rootless Docker without delegated cgroups is refused, since nothing would limit memory and processes', async () => {
  const command = (dir: string, socket: string): string => {
    writeFileSync(path.join(dir, 'subids'), 'daemon:200000:65536\n');
    for (const part of ['home', 'data', 'runtime']) mkdirSync(path.join(dir, part));
    const env = `env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=${dir}/home TMPDIR=${dir}/runtime XDG_RUNTIME_DIR=${dir}/runtime`;
    const dockerd = `dockerd --rootless --iptables=false --bridge none --storage-driver vfs --data-root ${dir}/data --exec-root ${dir}/runtime/exec --pidfile ${dir}/runtime/pid -H unix://${socket}`;
    return [
      `mount --bind ${dir}/subids /etc/subuid && mount --bind ${dir}/subids /etc/subgid`,
      `chown daemon ${dir}/home ${dir}/data ${dir}/runtime`,
      `exec setpriv --reuid daemon --regid daemon --clear-groups ${env} rootlesskit --net=host --copy-up=/etc --copy-up=/run sh -c 'rm -rf /run/docker /run/containerd; exec ${dockerd}'`,
    ].join(' && ');
  };
  await using rootless = new Daemon(command);
  await rootless.answers();
  const { doctor, session } = await refused(`unix://${rootless.socket}`);
  expect(doctor).toContain('Docker, rootless');
  expect(doctor).toMatch(/fault +Resource limits +the engine cannot limit: memory, swap, processes/);
  expect([session.status, session.stderr]).toEqual([125, expect.stringContaining('cannot set memory limits')]);
});

it('rootless Podman with cgroup v1 is refused: it does not apply limits, although its Docker API reports them', async () => {
  const command = (dir: string, socket: string): string => {
    writeFileSync(path.join(dir, 'subids'), 'daemon:200000:65536\n');
    for (const part of ['home', 'runtime']) mkdirSync(path.join(dir, part), { mode: 0o700 });
    const env = `env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=${dir}/home TMPDIR=${dir}/runtime XDG_RUNTIME_DIR=${dir}/runtime`;
    const service = `podman --storage-driver vfs --cgroup-manager cgroupfs system service -t 0 unix://${socket}`;
    return [
      `mount --bind ${dir}/subids /etc/subuid && mount --bind ${dir}/subids /etc/subgid`,
      `chown daemon ${dir}/home ${dir}/runtime`,
      `exec setpriv --reuid daemon --regid daemon --clear-groups ${env} ${service}`,
    ].join(' && ');
  };
  await using rootless = new Daemon(command);
  await rootless.answers();
  const { doctor, session } = await refused(`unix://${rootless.socket}`);
  expect(doctor).toContain('Podman, rootless');
  expect(doctor).toMatch(/fault +Resource limits +the engine cannot limit: memory, swap, processes/);
  expect([session.status, session.stderr]).toEqual([125, expect.stringContaining('cannot set memory limits')]);
});

describe('gVisor', () => {
  const runtimeArgs = ['--network=none', '--platform=ptrace', '--host-uds=all'];
  const engine = new SecondEngine({ runtimes: { runsc: { path: '/usr/bin/runsc', runtimeArgs } } });

  beforeAll(async () => {
    await engine.start();
    await engine.bringImage({ whole: true });
  });
  afterAll(() => engine[Symbol.asyncDispose]());

  it('doctor names the layers that work in its own kernel, and those that do not', async () => {
    await using scene = new Scene({ env: { DOCKER_HOST: engine.host } });
    const probed = await scene.run(['doctor', '--probe', '--json', '--runtime', 'runsc']);
    expect(probed.stdout, probed.stderr).toContain('"layer"');
    const rows = JSON.parse(probed.stdout) as { layer: string; result: string }[];
    const open = new Set(rows.filter((row) => row.result === 'open').map((row) => row.layer));
    const holds = [
      'read-only root',
      'no setuid bits',
      'namespaces',
      'network none',
      'environment allowlist',
      'git guard',
    ];
    expect(holds.filter((layer) => open.has(layer))).toEqual([]);
    for (const layer of ['seccomp', 'nodump guard', 'tmpfs options']) expect(open).toContain(layer);
    expect(probed.status).toBe(1);
  });

  it('Claude Code works in it, and its work is applied', async () => {
    const standIn = await startMessagesApi({
      turns: [
        { text: 'On it.', tools: [{ name: 'Bash', input: { command: 'dmesg >kernel.txt', description: 'step' } }] },
        { text: 'finished' },
      ],
    });
    const env = { DOCKER_HOST: engine.host };
    await using scene = new Scene({ apiUrl: standIn.url, apiKey: 'sk-ant-REAL-CREDENTIAL-9c1f7a', env });
    const session = await scene.run(['--runtime', 'runsc', '--yes', '--auto-apply', scene.project, '-p', 'go']);
    await standIn.close();
    expect([session.status, session.stderr]).toEqual([0, expect.stringContaining('runtime runsc')]);
    expect(session.stdout).toContain('finished');
    expect(readFileSync(path.join(scene.project, 'kernel.txt'), 'utf8')).toContain('Starting gVisor');
  });
});
