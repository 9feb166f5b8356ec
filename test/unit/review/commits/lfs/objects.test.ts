import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { lfsObjectPath, writeLfsPointer } from '../../../../../src/core/git/lfs-pointer.ts';
import { receiveCommits } from '../../../../../src/review/commits/import-commits.ts';
import { judgePointers, rawLfsFiles, withLfsContents } from '../../../../../src/review/commits/lfs/judge.ts';
import { lfsPaths, newPointers } from '../../../../../src/review/commits/lfs/pointers.ts';
import { ObjectReceiver } from '../../../../../src/review/commits/lfs/receive-objects.ts';
import { addLfsObject, lfsObjectIn, lfsStore } from '../../../../../src/review/commits/lfs/store.ts';
import { readBlobs, readCommitChanges } from '../../../../../src/review/commits/read-commits.ts';

const root = mkdtempSync(path.join(tmpdir(), 'run-claude-lfs-'));
const env = { PATH: process.env['PATH'] ?? '', HOME: root, GIT_CONFIG_NOSYSTEM: '1' };
const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.org', ...args], { cwd, env, encoding: 'utf8' });
afterAll(() => rmSync(root, { recursive: true, force: true }));

const pointerTo = (content: string) => ({
  oid: createHash('sha256').update(content).digest('hex'),
  size: Buffer.byteLength(content),
});
let count = 0;
const fresh = (): string => {
  count += 1;
  const dir = path.join(root, `d${count}`);
  mkdirSync(dir);
  return dir;
};

const ONE = pointerTo('one');
const LONG = pointerTo('x'.repeat(100_000));
const frame = ({ oid, size }: { oid: string; size: number }, content: string): string => `${oid} ${size}\n${content}`;

/** What a receiver of ONE and LONG keeps of a stream that comes in pieces of some size. */
function receive(stream: string, pieces: number): string[] {
  const store = fresh();
  const receiver = new ObjectReceiver([ONE, LONG], store);
  const bytes = Buffer.from(stream);
  for (let at = 0; at < bytes.length; at += pieces) receiver.take(bytes.subarray(at, at + pieces));
  receiver.end();
  expect(existsSync(path.join(store, 'tmp'))).toBe(false);
  const kept = [ONE, LONG].filter((one) => lfsObjectIn(store, one) !== undefined).map(({ oid }) => oid);
  // Nothing else was written.
  const files = readdirSync(store, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  expect(files.map(({ name }) => name).sort()).toEqual([...kept].sort());
  return kept;
}

it.each([1, 7, 65_536])('receives objects from a stream in pieces of %i bytes', (pieces) => {
  expect(receive(frame(ONE, 'one') + frame(LONG, 'x'.repeat(100_000)), pieces)).toEqual([ONE.oid, LONG.oid]);
});

it.each([
  ['other bytes under the name of an object', frame(ONE, 'two') + frame(LONG, 'x'.repeat(100_000)), [LONG.oid]],
  ['a size that is not the pointer’s', frame({ ...ONE, size: 4 }, 'one!'), []],
  ['an object that nobody asked for', frame(pointerTo('other'), 'other') + frame(ONE, 'one'), []],
  ['a name that is a path', `../../../../../x 3\none${frame(ONE, 'one')}`, []],
  ['a header without an end', 'a'.repeat(1_000), []],
  ['an object of which the end is missing', frame(ONE, 'one') + frame(LONG, 'x'), [ONE.oid]],
])('keeps none of %s', (_, stream, kept) => {
  expect(receive(stream, 4096)).toEqual(kept);
});

it('puts an object into the store of the user’s repository as a whole, once', async () => {
  const project = fresh();
  git(project, 'init', '-q');
  const store = await lfsStore(project, env);
  expect(store).toBe(path.join(project, '.git/lfs'));
  const file = path.join(fresh(), 'object');
  writeFileSync(file, 'one');
  addLfsObject(store, ONE, file);
  const placed = path.join(store, lfsObjectPath(ONE.oid));
  expect(readFileSync(placed, 'utf8')).toBe('one');
  expect(readdirSync(path.join(store, 'tmp'))).toEqual([]);
  // One that is there with the wrong size is replaced, as git-lfs does.
  writeFileSync(placed, 'cut off');
  expect(lfsObjectIn(store, ONE)).toBeUndefined();
  addLfsObject(store, ONE, file);
  expect(readFileSync(placed, 'utf8')).toBe('one');
  git(project, 'config', '--global', 'lfs.storage', '~/of-the-user');
  expect(await lfsStore(project, env)).toBe(path.join(root, 'of-the-user'));
  git(project, 'config', 'lfs.storage', path.join(root, 'elsewhere'));
  expect(await lfsStore(project, env)).toBe(path.join(root, 'elsewhere'));
  git(project, 'config', '--global', '--unset', 'lfs.storage');
});

/** A project whose `.gitattributes` gives *.psd to Git LFS, and commits that a session made over it. */
function commitsOf(files: readonly (readonly [name: string, content: string])[]) {
  const [project, sessionDir] = [fresh(), fresh()];
  git(project, 'init', '-q', '-b', 'main');
  writeFileSync(path.join(project, '.gitattributes'), '*.psd filter=lfs\n');
  writeFileSync(path.join(project, 'raw-before.psd'), 'raw before');
  writeFileSync(path.join(project, 'known.psd'), writeLfsPointer(pointerTo('known')));
  git(project, '-c', 'filter.lfs.clean=cat', 'add', '-A');
  git(project, 'commit', '-qm', 'first');
  const clone = path.join(fresh(), 'clone');
  git(root, 'clone', '-q', project, clone);
  for (const [name, content] of files) {
    mkdirSync(path.dirname(path.join(clone, name)), { recursive: true });
    writeFileSync(path.join(clone, name), content);
    git(clone, 'add', '-A');
    git(clone, 'commit', '-qm', name);
  }
  const bundle = path.join(sessionDir, 'bundle');
  git(clone, 'bundle', 'create', '-q', bundle, '--branches', '^HEAD~'.concat(String(files.length)));
  return receiveCommits({ project, sessionDir, sessionId: 'id', bundle: readFileSync(bundle), maxBytes: 1 << 20 });
}

it('finds raw content at the paths of Git LFS in every commit, also where a later one reverts it', () => {
  using received = commitsOf([
    ['new.psd', 'raw content'],
    ['deep/down/new.psd', 'raw content too'],
    ['new.psd', writeLfsPointer(ONE)],
    ['raw-before.psd', 'as it was before: raw'],
    ['empty.psd', ''],
    ['plain.txt', 'not of Git LFS'],
    ['deep/.gitattributes', '*.bin filter=lfs\n*.md !filter\n'],
    ['deep/a.bin', 'raw'],
    ['a.bin', 'not of Git LFS'],
  ]);
  const found = [...rawLfsFiles(received, readCommitChanges(received)).values()].flat();
  expect(found.map(({ path: at, severity }) => `${severity} ${at}`).sort()).toEqual([
    'suspect deep/a.bin',
    'suspect deep/down/new.psd',
    'suspect new.psd',
  ]);
  const [branch] = received.branches;
  const indexFile = path.join(fresh(), 'index');
  const names = ['x.psd', 'a.bin', 'deep/a.bin', 'x\n.psd'];
  const asked = (changed?: ReadonlyMap<string, string | undefined>): string[] => [
    ...lfsPaths(received.repository, branch?.commit ?? '', names, { indexFile, ...(changed && { changed }) }),
  ];
  expect(asked()).toEqual(['x.psd', 'deep/a.bin', 'x\n.psd']);
  expect(asked(new Map([['.gitattributes', undefined]]))).toEqual(['deep/a.bin']);
});

it('lists new pointers, reports those without an object, and audits the content of the others', () => {
  using received = commitsOf([
    ['one.psd', writeLfsPointer(ONE)],
    ['moved.psd', writeLfsPointer(pointerTo('known'))],
    ['gone.psd', writeLfsPointer(LONG)],
  ]);
  const store = fresh();
  const file = path.join(store, 'one');
  writeFileSync(file, 'one');
  addLfsObject(store, ONE, file);
  const pointers = newPointers(received);
  expect([...pointers.values()].sort((a, b) => a.size - b.size)).toEqual([ONE, LONG]);
  const lfs = { pointers, file: (one: typeof ONE) => lfsObjectIn(store, one), import: () => undefined };
  const changes = readCommitChanges(received).flatMap((one) => one.changes);
  expect(judgePointers(changes, lfs).map(({ title, path: at }) => `${title}: ${at}`)).toEqual([
    'Git LFS object is missing: gone.psd',
  ]);
  const contents = withLfsContents(readBlobs(received.repository, changes), lfs);
  const contentOf = (name: string) => contents.get(changes.find((one) => one.path === name)?.after?.digest ?? '');
  expect(contentOf('one.psd')?.toString()).toBe('one');
  expect(contentOf('gone.psd')?.toString()).toBe(writeLfsPointer(LONG));
});
