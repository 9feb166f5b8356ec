import { execFileSync, spawnSync } from 'node:child_process';
import { homedir } from 'node:os';
import { text } from 'node:stream/consumers';
import { makeOwnedDir } from '../../src/core/host/files/owned-dir.ts';
import type { Container, ContainerSpec } from '../../src/core/types/engine.ts';
import type { Engine } from '../../src/core/types/runtime.ts';
import { connectEngine, ownerOf } from '../../src/engines/engine/connect.ts';

/** The engine that the test run uses, or the one that another environment names. */
export function connectForTest(
  owner = ownerOf(`test ${process.pid}`),
  env: NodeJS.ProcessEnv = process.env,
): Promise<Engine> {
  const { platform } = process;
  return connectEngine({ choice: 'auto', env, home: homedir(), platform, owner, makeDir: makeOwnedDir });
}

/** A small container of the given image, for tests to change. */
export function smallContainer(name: string, image: string, argv: readonly string[]): ContainerSpec {
  return {
    name,
    role: 'task',
    sessionId: name,
    image,
    argv,
    user: '1000:1000',
    env: { PATH: '/usr/bin:/bin' },
    workdir: '/',
    mounts: [{ kind: 'tmpfs', target: '/tmp', sizeMb: 16, mode: 0o1777, noexec: false }],
    network: 'none',
    capabilities: [],
    seccomp: undefined,
    limits: { memoryMb: 256, cpus: 0, pids: 64, nofile: 1024, shmMb: 16 },
    tty: false,
    stdin: 'none',
    hostname: 'sandbox',
  };
}

/** What the engine still has of a session: containers, volumes and networks, by id or name. */
export function sessionObjects(id: string): readonly string[] {
  return ['ps -a', 'volume ls', 'network ls'].flatMap((what) => listed(what, id));
}

/** Removes what a test that failed in the middle of a session left, where that is not under way already. */
export function removeSessionObjects(id: string): void {
  for (const [list, remove] of [
    ['ps -a', 'rm -f'],
    ['volume ls', 'volume rm'],
    ['network ls', 'network rm'],
  ] as const) {
    const left = listed(list, id);
    if (left.length > 0) spawnSync('docker', [...remove.split(' '), ...left], { stdio: 'ignore' });
  }
}

function listed(what: string, id: string): string[] {
  const argv = [...what.split(' '), '-q', '--filter', `label=run-claude.session=${id}`];
  return execFileSync('docker', argv, { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line !== '');
}

/** Runs a container that was made, removes it, and gives all that it printed. */
export async function runToEnd(container: Container): Promise<{ readonly said: string; readonly status: number }> {
  try {
    const printed = Promise.all([text(container.stdout), text(container.stderr)]);
    await container.start();
    const status = await container.wait();
    return { said: (await printed).join(''), status };
  } finally {
    await container.remove();
  }
}
