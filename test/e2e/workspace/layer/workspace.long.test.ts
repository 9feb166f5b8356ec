import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { Scene } from '../../../support/scene.ts';
import { openSshFront } from '../../../support/ssh-front.ts';
import { openTlsFront } from '../../../support/tls-front.ts';
import type { WatchedSocket } from '../../../support/watched-socket.ts';

/** An engine that is elsewhere, as far as the command can tell: what its environment has to say for it. */
type Elsewhere = (
  dir: string,
) => Promise<{ env: Record<string, string>; watched?: WatchedSocket; close(): void | Promise<void> }>;

const behindTls: Elsewhere = async (dir) => {
  const { host, certPath, watched, close } = await openTlsFront(dir);
  return { env: { DOCKER_HOST: host, DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: certPath }, watched, close };
};
const overSsh: Elsewhere = async (dir) => {
  const { host, path: PATH, close } = await openSshFront(dir);
  return { env: { DOCKER_HOST: host, PATH }, close };
};

it.each([
  ['tcp:// with TLS', behindTls, true],
  // The requests in ssh cannot be read.
  ['ssh://', overSsh, false],
] as const)(
  'with an engine at %s, no path of this machine is mounted, and later sessions send only differences',
  async (_, far, isWatched) => {
    const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-far-'));
    const front = await far(dir);
    const scene = new Scene({ env: front.env });
    const key = createHash('sha256').update(scene.project).digest('hex').slice(0, 16);
    try {
      scene.write('name\u00fc ,:\\.txt', 'odd');
      const script =
        'cat README.md; cat /proc/self/mountinfo > mounts.txt; echo inside >> log.txt; git status --short; ls -ld ~';
      const result = await scene.run(['exec', '--auto-apply', scene.project, '--', 'sh', '-c', script]);
      expect(result.stderr).toContain('(volume)');
      expect(result.stdout).toContain('# sample');
      expect(result.stdout).toMatch(/drwx.* agent .*\/home\/agent/);
      expect(result.status).toBe(0);
      const mounts = readFileSync(path.join(scene.project, 'mounts.txt'), 'utf8');
      expect(mounts).toMatch(/ \/workspace .* overlay /);
      expect(mounts).not.toContain(scene.root);
      expect(readFileSync(path.join(scene.project, 'log.txt'), 'utf8')).toBe('third\ninside\n');
      scene.write('README.md', 'edited on the host\n');
      const second = await scene.run([
        'exec',
        scene.project,
        '--',
        'sh',
        '-c',
        'cat README.md log.txt; ls *.txt | wc -l',
      ]);
      expect(second.stdout).toBe('edited on the host\nthird\ninside\n3\n');
      expect(second.status).toBe(0);
      await scene.run(['exec', scene.project, '--', 'sh', '-c', 'echo more > more.txt; rm log.txt']);
      const explored = await scene.run(['explore'], {
        input: 'cat more.txt README.md; ls log.txt; echo x > y; cat y\n',
      });
      expect(explored.stdout).toBe('more\nedited on the host\nx\n');
      expect((await scene.run(['diff', '--name-only'])).stdout).toBe('log.txt\nmore.txt\n');
      await scene.run(['discard', '--yes']);
      await scene.run(['gc', '--yes']);
      // What was applied in full, or changed nothing, left no volume behind but the base.
      const left = execFileSync('docker', ['volume', 'ls', '-q'], { encoding: 'utf8' }).split('\n');
      const ids = (await scene.run(['sessions', '--json'])).stdout;
      const own = (JSON.parse(ids) as { id: string }[]).map(({ id }) => `run-claude-${id}`);
      expect(left.filter((name) => own.some((one) => name.startsWith(one)))).toEqual([]);
      expect(left).toContain(`run-claude-base-${key}`);
      expect(front.watched !== undefined).toBe(isWatched);
      if (front.watched !== undefined) {
        expect(front.watched.refused).toEqual([]);
        expect(front.watched.asked.length).toBeGreaterThan(5);
        expect(front.watched.asked.join('\n')).not.toContain(scene.root);
      }
    } finally {
      await scene[Symbol.asyncDispose]();
      execFileSync('docker', ['volume', 'rm', '-f', `run-claude-base-${key}`], { stdio: 'ignore' });
      await front.close();
      rmSync(dir, { recursive: true, force: true });
    }
  },
);

it('--disk stops a growing session without a terminal, and diff --follow watches it from another process', async () => {
  await using scene = new Scene();
  const go = 'until [ -e /tmp/go ]; do sleep 0.5; done';
  const script = `echo one > seen.txt; ${go}; head -c 200000000 /dev/urandom > huge.bin; sleep 300`;
  const session = scene.run(['exec', '--disk', '60m', scene.project, '--', 'sh', '-c', script]);
  const seen = async (): Promise<string | undefined> => {
    const { stdout } = await scene.run(['status', '--json']);
    return stdout.includes('"path": "seen.txt"') ? (JSON.parse(stdout) as { id: string }).id : undefined;
  };
  let id: string | undefined;
  for (const end = Date.now() + 400_000; id === undefined && Date.now() < end; ) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    id = await seen();
  }
  const following = scene.run(['diff', '--follow', '--json', '--', '*.txt', '*.bin']);
  const names = (): string =>
    execFileSync('docker', ['ps', '--filter', `name=run-claude-${id}-watch`, '-q'], { encoding: 'utf8' });
  while (names() === '') await new Promise((resolve) => setTimeout(resolve, 500));
  execFileSync('docker', ['exec', `run-claude-${id}`, 'touch', '/tmp/go']);
  const followed = await following;
  const lines = followed.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { path: string; kind: string });
  expect(followed.status).toBe(0);
  expect(lines[0]).toMatchObject({ path: 'seen.txt', kind: 'created' });
  expect(lines.map(({ path: one }) => one)).toContain('huge.bin');
  const ended = await session;
  expect(ended.status).toBe(124);
  expect(ended.stderr).toMatch(/Stopping the agent: it has written .* \(--disk allows/);
  // Its work waits for an answer.
  expect((await scene.run(['diff', '--name-only'])).stdout).toContain('seen.txt');
  expect(existsSync(path.join(scene.project, 'seen.txt'))).toBe(false);
});
