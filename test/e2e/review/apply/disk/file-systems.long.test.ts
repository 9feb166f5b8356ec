import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { compileShim } from '../../../../support/compile.ts';
import { Scene } from '../../../../support/scene.ts';
import { treeFacts } from '../../../../support/tree-facts.ts';
import { refresh } from '../../../../support/workspace/refresh-scene.ts';

const root = mkdtempSync(path.join(tmpdir(), 'run-claude-disks-'));
const shim = path.join(root, 'shim.so');
beforeAll(() => compileShim(shim));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const sh = (script: string, ...words: string[]): string =>
  execFileSync('sh', ['-euc', script, 'sh', ...words], { encoding: 'utf8' });

/** Puts the scene's project on its own file system. */
function onDisk(scene: Scene, mount: string): Disposable {
  const image = path.join(scene.root, 'image');
  sh(
    `cp -a "$1" "$1.was"; truncate -s 320M "$2"; ${mount}; rm -rf "$1/lost+found"; cp -a "$1.was/." "$1/"`,
    scene.project,
    image,
    scene.root,
  );
  return {
    [Symbol.dispose]: () =>
      void sh('umount -l "$1"; grep -q " $2/o " /proc/mounts && umount -l "$2/o" || true', scene.project, scene.root),
  };
}

const WORK = `echo more >> README.md; mkdir new; echo new > new/file; rm log.txt; for i in 1 2 3 4 5 6; do echo $i > src/file$i.txt; done`;

it.each([
  ['ext4', 'mkfs.ext4 -q "$2"; mount -o loop "$2" "$1"'],
  ['xfs', 'mkfs.xfs -q "$2"; mount -o loop "$2" "$1"'],
  ['btrfs', 'mkfs.btrfs -q "$2"; mount -o loop "$2" "$1"'],
  ['tmpfs', 'mount -t tmpfs tmpfs "$1"'],
  [
    'overlay',
    'mkdir "$3/o"; mount -t tmpfs tmpfs "$3/o"; mkdir "$3/o/l" "$3/o/u" "$3/o/w"; mount -t overlay -o "lowerdir=$3/o/l,upperdir=$3/o/u,workdir=$3/o/w" overlay "$1"',
  ],
])('a project on %s, its state elsewhere: a session, a killed apply, its end, undo', async (_, mount) => {
  await using scene = new Scene();
  using _disk = onDisk(scene, mount);
  const before = scene.fingerprint();
  const session = await scene.run(['exec', scene.project, '--', 'sh', '-c', WORK]);
  expect(session.status).toBe(120);
  expect(scene.fingerprint()).toBe(before);
  const count = path.join(scene.root, 'count');
  const preload = { LD_PRELOAD: shim, UV_USE_IO_URING: '0' };
  const whole = await scene.run(['apply', '--yes'], { env: { ...preload, SHIM_COUNT: count } });
  expect([whole.status, whole.stderr]).toEqual([0, expect.stringContaining('Applied 9 of 9')]);
  const after = scene.fingerprint();
  expect((await scene.run(['undo', '--yes'])).status).toBe(0);
  expect(scene.fingerprint()).toBe(before);
  const at = Math.floor(Number(readFileSync(count, 'utf8')) / 2);
  const killed = await scene.run(['apply', '--yes'], { env: { ...preload, SHIM_DO: 'kill', SHIM_AT: String(at) } });
  expect(killed.status).toBe(255);
  expect([before, after]).not.toContain(scene.fingerprint());
  const next = await scene.run(['status']);
  expect(next.stderr).toContain('ended in the middle: finishing it');
  expect(next.stdout).toMatch(/^9 files are applied/m);
  expect(scene.fingerprint()).toBe(after);
  expect((await scene.run(['undo', '--yes'])).status).toBe(0);
  expect(scene.fingerprint()).toBe(before);
});

it.each([
  ['xfs', 'mkfs.xfs -q "$2"'],
  ['btrfs', 'mkfs.btrfs -q "$2"'],
])('a base on the same disk (%s) as its project shares its blocks, small files included', async (_, make) => {
  const disk = path.join(root, 'shared');
  mkdirSync(disk);
  sh(`truncate -s 320M "$2"; ${make}; mount -o loop "$2" "$1"`, disk, path.join(root, 'shared-image'));
  try {
    const free = (): number => {
      sh('sync -f "$1"', disk);
      const { bavail, bsize } = statfsSync(disk);
      return bavail * bsize;
    };
    const project = path.join(disk, 'project');
    mkdirSync(project);
    const [count, size] = [2000, 33_000];
    for (let i = 0; i < count; i++) writeFileSync(path.join(project, `f${i}`), randomBytes(size));
    const before = free();
    const base = await refresh(disk, 'one');
    expect(before - free()).toBeLessThan(count * size * 0.05);
    expect(treeFacts(path.join(base.dir, 'tree'))).toEqual(treeFacts(project));
  } finally {
    sh('umount "$1"; rmdir "$1"; rm "$2"', disk, path.join(root, 'shared-image'));
  }
});

it('apply and undo refuse a project that another directory has replaced', async () => {
  await using scene = new Scene();
  expect((await scene.run(['exec', scene.project, '--', 'sh', '-c', WORK])).status).toBe(120);
  const swap = (): void => {
    renameSync(scene.project, `${scene.project}.other`);
    mkdirSync(scene.project);
    sh('cp -a "$1.other/." "$1/"', scene.project);
  };
  const back = (): void => {
    rmSync(scene.project, { recursive: true });
    renameSync(`${scene.project}.other`, scene.project);
  };
  const before = scene.fingerprint();
  for (const command of ['apply', 'undo']) {
    const at = scene.fingerprint();
    swap();
    const refused = await scene.run([command, '--yes']);
    expect([refused.status, refused.stderr]).toEqual([125, expect.stringContaining('is not the directory')]);
    expect(scene.fingerprint()).toBe(at);
    back();
    expect((await scene.run([command, '--yes'])).status).toBe(0);
  }
  expect(scene.fingerprint()).toBe(before);
});
