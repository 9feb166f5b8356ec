import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { openContentStore } from '../../../src/core/store/content.ts';
import { withLock } from '../../../src/core/store/lock.ts';
import { applyChanges } from '../../../src/review/apply/apply-changes.ts';
import { directoryIdentity } from '../../../src/review/apply/disk/host/host-path.ts';
import { recoverApply } from '../../../src/review/apply/recover.ts';
import { undoApply } from '../../../src/review/apply/undo.ts';
import { adopt, layScene, type Scene, sorted } from './crash-scene.ts';
import { dir, emptyFolder, file, layApply, link, type Nodes, verdictTexts } from './lay.ts';
import { readTree } from './tree.ts';

// What apply, undo and recovery do on real file systems, as root under a kernel of the test's own (test/support/own-kernel.ts).
// argv: this program (for its children), the shim, a folder for results: a JSON file for each disk.
const [program = '', shim = '', results = '', child = '', request = ''] = process.argv.slice(2);
const at = '/mnt';
const sh = (script: string, ...words: string[]): string =>
  execFileSync('sh', ['-euc', script, 'sh', ...words], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });

/** Everything once: apply, and undo brings back trees and times. Modes are FAT's, which has no others. */
async function everything(project: string, state: string, links: boolean) {
  const own = (text: string) => file(text, 0o755);
  const ln = (target: string): Nodes => (links ? { ln: link(target) } : {});
  const base = {
    'Case.txt': own('case\n'),
    Dir: dir,
    'Dir/a': own('a\n'),
    'Dir/b': own('b\n'),
    gone: own('gone\n'),
    merge: own('1\n2\n3\n4\n5\n'),
    mode: own('mode\n'),
    plain: own('plain\n'),
    turn: own('turn\n'),
    ...ln('plain'),
  };
  const session = {
    'case.txt': own('case\n'),
    dir,
    'dir/a': own('a\n'),
    'dir/b': own('B\n'),
    made: dir,
    'made/new': file('new\n', 0o600),
    merge: own('1\n2\n3\n4\nFIVE\n'),
    mode: file('mode\n', 0o644),
    plain: own('PLAIN\n'),
    turn: dir,
    'turn/in': file('in\n'),
    'na me\u00e9': own('odd\n'),
    newlink: link('plain'),
    ...ln('gone'),
  };
  const one = await layApply(project, state, { base, session, host: { ...base, merge: own('ONE\n2\n3\n4\n5\n') } });
  const before = one.now();
  const times = one.times();
  const said = await one.apply();
  const after = one.now();
  const undone = await one.undo();
  return { before, said, after, undone, back: one.now(), times, timesBack: one.times() };
}

/** Names that a disk may take for another: twins, a repository's, another case or alias of a folder that is there. */
async function names(project: string, state: string) {
  const base = { '.github': dir, '.github/keep': file('keep\n'), here: file('here\n') };
  const session = {
    ...base,
    HERE: file('other\n'),
    '.GIT': dir,
    '.GIT/config': file('[core]\n'),
    'GITHUB~1': dir,
    'GITHUB~1/w.yml': file('on: push\n'),
    '.GitHub': dir,
    '.GitHub/x.yml': file('on: push\n'),
    Twin: file('one\n'),
    twin: file('two\n'),
  };
  const one = await layApply(project, state, { base, session });
  return { said: await one.apply(), after: one.now() };
}

/** A kill at every so manieth call of apply, then of undo: each copy is recovered. */
async function kills(folder: string, links: boolean) {
  const found: { what: string; points: number; wrong: unknown[] }[] = [];
  emptyFolder(path.join(folder, 'project'));
  const scene = await layScene(path.dirname(folder), path.basename(folder), false, 0, links);
  for (const what of ['apply', 'undo']) {
    const before = JSON.stringify(sorted(readTree(scene.project)));
    const snapshots = `${at}/snapshots`;
    emptyFolder(snapshots);
    rmSync('/run/start', { force: true });
    const counting = { SHIM_START: '/run/start', SHIM_SNAP: snapshots, SHIM_SCENE: scene.folder, SHIM_EVERY: '9' };
    const env = { PATH: process.env['PATH'] ?? '', LD_PRELOAD: shim, UV_USE_IO_URING: '0', ...counting };
    const words = [program, program, shim, results, what, scene.request];
    const ran = spawnSync(process.execPath, words, { env, encoding: 'utf8' });
    if (ran.status !== 0) throw new Error(`${what}: ${ran.stderr}`);
    const after = JSON.stringify(sorted(readTree(scene.project)));
    copy(scene.folder, '/run/done');
    const wrong: unknown[] = [];
    const points = readdirSync(snapshots);
    for (const point of points) {
      restore(scene, path.join(snapshots, point));
      const said = await verdictTexts(recoverApply(commonOf(scene)));
      const now = JSON.stringify(sorted(readTree(scene.project)));
      if (now !== before && now !== after) wrong.push({ point, said, now });
    }
    found.push({ what, points: points.length, wrong });
    restore(scene, '/run/done');
  }
  return found;
}

/** A copy takes the scene's place; its project may be a mount point, so what is in it is put back. */
function restore(scene: Scene, from: string): void {
  emptyFolder(scene.project);
  cpSync(path.join(from, 'project'), scene.project, AS_IT_IS);
  copy(path.join(from, 's'), path.join(scene.folder, 's'));
  adopt(scene);
}

const AS_IT_IS = { recursive: true, verbatimSymlinks: true, preserveTimestamps: true };

/** Without a process: starting one takes a second under this kernel. */
function copy(from: string, to: string): void {
  rmSync(to, { recursive: true, force: true });
  cpSync(from, to, AS_IT_IS);
}

const commonOf = (scene: Pick<Scene, 'project' | 'sessionDir'>) => ({
  project: scene.project,
  sessionDir: scene.sessionDir,
  tell: () => undefined,
  dryRun: false,
  store: openContentStore(path.join(scene.sessionDir, 'store')),
});

function become(person: number): void {
  process.seteuid?.(0);
  process.setegid?.(person);
  process.seteuid?.(person);
}

/** Less and less room: `limit` gives the disk, or the user, so many KiB more than is used; -1: all that there is. */
async function full(
  project: string,
  state: string,
  rooms: readonly number[],
  limit: (room: number) => void,
  person = 0,
) {
  const some = (text: string, from: number, to: number): Nodes =>
    Object.fromEntries(Array.from({ length: to - from }, (_, i) => [`f${from + i}`, file(`${text}${i}`.repeat(700))]));
  const base = { d: dir, 'd/x': file('x\n'), ...some('a', 0, 10) };
  const session = { ...base, ...some('bb', 0, 20), n: dir, 'n/y': file('y'.repeat(9000)) };
  const found = [];
  for (const room of rooms) {
    const one = await layApply(project, state, { base, session });
    if (person !== 0) sh('chown -R "$1:$1" "$2" "$3"', String(person), project, state);
    const before = JSON.stringify(one.now());
    limit(room);
    become(person);
    const said = await one.apply();
    const after = JSON.stringify(one.now());
    const failed = Object.values(said).find((text) => text.startsWith('failed'));
    // Undo on a disk that is full by then.
    become(0);
    limit(0);
    become(person);
    const undone = failed === undefined ? await one.undo() : {};
    become(0);
    limit(-1);
    await one.recover();
    const left = JSON.stringify(one.now());
    const again = left === after && failed === undefined ? await one.undo() : {};
    const back = JSON.stringify(one.now()) === before;
    found.push({ room, failed, whole: after !== before, undone, left: left === before || left === after, again, back });
  }
  return found;
}

/** What happens to the disk after so many steps, and is over afterwards. */
async function interrupted(project: string, state: string, steps: number, close: () => void, open: () => void) {
  const eight = (text: string): Nodes =>
    Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`f${i}`, file(`${text} ${i}\n`)]));
  const one = await layApply(project, state, { base: eight('old'), session: eight('new') });
  const before = one.now();
  const said = await one.apply({
    tell: (event) => {
      if (event.kind === 'progress' && event.done === steps) close();
    },
  });
  open();
  const during = one.now();
  await one.recover();
  const second = await one.apply();
  const after = one.now();
  const undone = [await one.undo(), await one.undo()];
  return { said, during, second, after, undone, backs: JSON.stringify(one.now()) === JSON.stringify(before) };
}

interface Disk {
  readonly up: (project: string) => void;
  readonly down: (project: string) => void;
  readonly links?: boolean;
  /** State on the disk too. */
  readonly whole?: boolean;
}

const image = (make: string, options = 'loop'): Pick<Disk, 'up' | 'down'> => ({
  up: (project) =>
    void sh(
      `truncate -s 48M ${at}/image; ${make} ${at}/image >/dev/null 2>&1; mount -o ${options} ${at}/image "$1"; rm -rf "$1/lost+found"`,
      project,
    ),
  down: (project) => void sh(`umount "$1"; rm -f ${at}/image`, project),
});

const OVERLAY = `mkdir -p ${at}/o; mount -t tmpfs tmpfs ${at}/o; mkdir ${at}/o/l ${at}/o/u ${at}/o/w
mount -t overlay -o lowerdir=${at}/o/l,upperdir=${at}/o/u,workdir=${at}/o/w overlay "$1"`;

/**
 * The kernel's own server and client; the answer to what is asked twice is made by taking the server away. The second
 * mount speaks an older version: mounts of one version are one client to the server, which tells no client of its own
 * doings, and a delegated file that the first removed stays for the second for good.
 */
const NFS = `mkdir -p ${at}/export /run/lock; truncate -s 64M ${at}/image; mkfs.ext4 -q ${at}/image; mount -o loop ${at}/image ${at}/export
mount -t tmpfs tmp /var/lib/nfs; mkdir /var/lib/nfs/v4recovery /var/lib/nfs/rpc_pipefs; touch /var/lib/nfs/etab /var/lib/nfs/rmtab
mount -t nfsd nfsd /proc/fs/nfsd
exportfs -i -o rw,no_root_squash,insecure,fsid=0,no_subtree_check 127.0.0.1:${at}/export
rpc.nfsd -N 3 2; rpc.mountd -N 2 -N 3; echo Y >/proc/fs/nfsd/v4_end_grace
mount -t nfs4 127.0.0.1:/ "$1"; mount -t nfs4 -o vers=4.1,noac 127.0.0.1:/ "$2"`;

const DISKS: Readonly<Record<string, Disk>> = {
  tmpfs: {
    up: (project) => void sh('mount -t tmpfs tmpfs "$1"', project),
    down: (project) => void sh('umount "$1"', project),
  },
  ext4: image('mkfs.ext4 -q'),
  vfat: { ...image('mkfs.vfat'), links: false },
  // The only one here that folds case and has modes and links: OS/2's.
  jfs: image('mkfs.jfs -q -O'),
  overlay: { up: (project) => void sh(OVERLAY, project), down: (project) => void sh(`umount "$1" ${at}/o`, project) },
};

const put = (name: string, value: unknown): void =>
  writeFileSync(path.join(results, `${name}.json`), JSON.stringify(value));

async function eachDisk(): Promise<void> {
  for (const [name, { up, down, links = true }] of Object.entries(DISKS)) {
    const folder = `${at}/${name}`;
    const project = `${folder}/project`;
    mkdirSync(project, { recursive: true });
    up(project);
    put(name, {
      everything: await everything(project, `${folder}/s`, links),
      names: await names(project, `${folder}/s`),
      kills: await kills(folder, links),
    });
    down(project);
  }
}

async function onNfs(): Promise<void> {
  const [here, there] = [`${at}/nfs`, `${at}/nfs2`];
  mkdirSync(here);
  mkdirSync(there);
  sh(NFS, here, there);
  const folder = `${here}/scene`;
  const found = {
    everything: await everything(`${folder}/project`, `${folder}/s`, true),
    kills: await kills(folder, true),
    lock: await lockOnNfs(here, there),
    gone: await interrupted(
      `${folder}/project`,
      `${at}/s`,
      3,
      () => void sh('exportfs -au; exportfs -f'),
      () => void sh(`exportfs -i -o rw,no_root_squash,insecure,fsid=0,no_subtree_check 127.0.0.1:${at}/export`),
    ),
  };
  put('nfs', found);
}

/** Two clients of one server, as from two hosts. */
async function lockOnNfs(here: string, there: string) {
  const what = { what: 'test' };
  const order: string[] = [];
  const second = await withLock(`${here}/lock`, what, async () => {
    order.push('first in');
    const refused = await withLock(`${there}/lock`, what, async () => 'taken').catch((error: Error) => error.message);
    order.push('first out');
    return refused;
  });
  // A client learns with a delay that an entry was removed.
  const after = await withLock(`${there}/lock`, { ...what, waitMs: 10_000 }, async () => 'taken');
  return { second, after, left: readdirSync(here).filter((name) => name.startsWith('lock')), order };
}

async function fullDisks(): Promise<void> {
  const project = `${at}/full`;
  const state = `${at}/fulls`;
  const fill = `${project}/fill`;
  mkdirSync(project);
  const small = image('mkfs.ext4 -q -b 1024 -N 64 -m 0');
  small.up(project);
  // Its own file takes up all but so much; of the inodes there are few.
  const leave = (room: number): void => {
    rmSync(fill, { force: true });
    if (room < 0) return;
    const free = Number(sh(`df --output=avail -k "$1" | tail -1`, project));
    if (free > room) sh('head -c "$1"K /dev/zero >"$2" || true', String(free - room), fill);
  };
  const hidden = await withFillHidden(project, state, leave);
  small.down(project);
  const quota = image('mkfs.ext4 -q -O quota', 'loop,usrquota');
  quota.up(project);
  sh('chown 1000:1000 "$1"', project);
  const limitPerson = (room: number): void => {
    const used = Number(
      sh(
        `repquota -u "$1" | awk '$1 == "#1000" || $1 ~ /^[a-z]+$/ && $1 != "root" { n += $3 } END { print n + 0 }'`,
        project,
      ),
    );
    sh('setquota -u 1000 0 "$1" 0 0 "$2"', room < 0 ? '0' : String(Math.max(1, used + room)), project);
  };
  const person = await full(project, state, [0, 8, 16, 24, 40, 80, 200], limitPerson, 1000);
  quota.down(project);
  put('full', { disk: hidden, person });
}

/** As {@link full}, with the file that fills the disk outside the project. */
async function withFillHidden(disk: string, state: string, leave: (room: number) => void) {
  return full(`${disk}/p`, state, [0, 30, 46, 49, 52, 55, 58, 61, 64, 67, 70, 120], leave);
}

async function others(): Promise<void> {
  const project = `${at}/ro`;
  mkdirSync(project);
  const ext4 = image('mkfs.ext4 -q');
  ext4.up(project);
  const remount = (how: string) => () => void sh(`mount -o remount,${how} "$1"`, project);
  const readOnly = await interrupted(project, `${at}/ros`, 3, remount('ro'), remount('rw'));
  remount('ro')();
  const never = await layReadOnly(project, remount);
  ext4.down(project);
  const vfat = image('mkfs.vfat');
  vfat.up(project);
  const numbered = await numberedAnew(project, vfat);
  put('others', { readOnly, never, numbered });
}

async function layReadOnly(project: string, remount: (how: string) => () => void) {
  remount('rw')();
  const one = await layApply(project, `${at}/ros`, { base: { a: file('a') }, session: { a: file('b'), b: file('b') } });
  remount('ro')();
  const said = await one.apply();
  remount('rw')();
  return { said, now: one.now() };
}

/** A disk that gives a folder another number at each mount: an apply that was begun there can be continued. */
async function numberedAnew(mount: string, disk: Pick<Disk, 'up' | 'down'>) {
  const project = `${mount}/project`;
  mkdirSync(project);
  const one = await layApply(project, `${at}/ns`, { base: { a: file('a') }, session: { a: file('b') } });
  const first = directoryIdentity(project);
  sh(`umount "$1"; mount -o loop ${at}/image "$1"; touch "$1/x"; mkdir "$1/y"`, mount);
  const second = directoryIdentity(project);
  const said = await one.apply({ projectIdentity: `:${first.split(':')[1]}` });
  sh(`umount "$1"; mount -o loop ${at}/image "$1"; mkdir "$1/z"; ls -R "$1" >/dev/null`, mount);
  const undone = await one.undo();
  const now = one.now();
  disk.down(mount);
  return { same: first === second, said, undone, now };
}

if (child !== '') {
  const asked = JSON.parse(readFileSync(request, 'utf8'));
  const rest = { choice: asked.choice, conflict: 'keep', audit: () => [], acceptMerge: async () => true } as const;
  // The shim counts from here.
  writeFileSync('/run/start', '');
  await (child === 'undo' ? undoApply(commonOf(asked)) : applyChanges({ ...commonOf(asked), ...rest }));
} else {
  for (const part of [eachDisk, others, fullDisks, onNfs]) {
    await part().catch((error: Error) =>
      appendFileSync(path.join(results, 'errors'), `${part.name}: ${error.stack}\n`),
    );
  }
}
