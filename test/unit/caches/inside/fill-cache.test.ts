import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Archive } from '../../../../src/caches/ecosystem.ts';
import { fillCache } from '../../../../src/caches/inside/fill-cache.ts';
import type { FillReport, FillRequest } from '../../../../src/caches/inside/request.ts';
import { openRegistry, sha } from '../../../support/registry.ts';

const WORKER = path.resolve(
  import.meta.dirname,
  '../../../../node_modules/.cache/run-claude-tests/workers/fill-worker.cjs',
);

function scratch(): string {
  const dir = realpathSync(mkdtempSync(path.join(tmpdir(), 'run-claude-fill-')));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  mkdirSync(path.join(dir, 'cache'));
  return dir;
}

const archiveOf = (url: string, content: string, at: string): Archive => ({
  name: at,
  url: `${url}/${at}`,
  hash: { name: 'sha256', hex: sha('sha256', content) },
  path: at,
});

const fill = (dir: string, archives: Archive[], more: Partial<FillRequest> = {}): Promise<FillReport> =>
  fillCache({ archives, dir: path.join(dir, 'cache'), previous: undefined, reserveBytes: 0, ...more }, () => undefined);

const filesOf = (dir: string): string[] =>
  readdirSync(path.join(dir, 'cache'), { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [entry.name] : [],
  );

it('fetches each archive to its path, in the program of the container', async () => {
  const dir = scratch();
  await using registry = await openRegistry({ '/a/one.tgz': 'one', '/two.tgz': 'two' });
  const archives = [archiveOf(registry.url, 'one', 'a/one.tgz'), archiveOf(registry.url, 'two', 'two.tgz')];
  const request: FillRequest = { archives, dir: path.join(dir, 'cache'), previous: undefined, reserveBytes: 0 };
  const printed = await new Promise<string>((resolve, reject) => {
    const child = execFile(process.execPath, [WORKER], (error, out) => (error ? reject(error) : resolve(out)));
    child.stdin?.end(JSON.stringify(request));
  });
  expect(JSON.parse(printed.trim().split('\n').at(-1) ?? '')).toEqual({ kind: 'filled', bytes: 6 });
  expect(readFileSync(path.join(dir, 'cache/a/one.tgz'), 'utf8')).toBe('one');
  expect(readFileSync(path.join(dir, 'cache/two.tgz'), 'utf8')).toBe('two');
});

it('keeps no archive of other bytes than the lock file names, and asks for it once', async () => {
  const dir = scratch();
  await using registry = await openRegistry({ '/lib.tgz': 'poison' });
  const report = await fill(dir, [archiveOf(registry.url, 'good', 'lib.tgz')]);
  expect(report).toEqual({
    kind: 'failed',
    archive: 'lib.tgz',
    why: 'the registry sent other bytes than the lock file names',
  });
  expect(filesOf(dir)).toEqual([]);
  expect(registry.asked).toHaveLength(1);
});

it('takes from an older cache what has the hash, and nothing else of it', async () => {
  const dir = scratch();
  const previous = path.join(dir, 'previous');
  mkdirSync(previous);
  writeFileSync(path.join(previous, 'same.tgz'), 'same');
  writeFileSync(path.join(previous, 'changed.tgz'), 'poison');
  await using registry = await openRegistry({ '/changed.tgz': 'changed' });
  const archives = ['same', 'changed'].map((name) => archiveOf(registry.url, name, `${name}.tgz`));
  expect(await fill(dir, archives, { previous })).toEqual({ kind: 'filled', bytes: 11 });
  expect(registry.asked).toEqual(['/changed.tgz']);
  expect(readFileSync(path.join(dir, 'cache/changed.tgz'), 'utf8')).toBe('changed');
});

it('writes nothing outside of the cache, whatever path it is given', async () => {
  const dir = scratch();
  await using registry = await openRegistry({ '/out.tgz': 'out' });
  const archive = { ...archiveOf(registry.url, 'out', 'out.tgz'), path: '../out.tgz' };
  expect(await fill(dir, [archive])).toMatchObject({ kind: 'failed', why: 'its name leaves the cache' });
  expect(existsSync(path.join(dir, 'out.tgz'))).toBe(false);
});

it('pip: takes the files that have a hash of the lock file and that this machine can use', async () => {
  const dir = scratch();
  const file = (filename: string, content: string) => ({
    filename,
    url: `../../files/${filename}`,
    hashes: { sha256: sha('sha256', content) },
  });
  const names = [
    'lib-1.0-py3-none-any.whl',
    'lib-1.0-cp311-cp311-win_amd64.whl',
    'lib-1.0.tar.gz',
    'lib-2.0-py3-none-any.whl',
    '../../../evil.whl',
  ];
  const files = names.map((name) => file(name, name));
  const served = Object.fromEntries(names.map((name) => [`/files/${name}`, name]));
  await using registry = await openRegistry({ ...served, '/simple/lib/': JSON.stringify({ files }) });
  const anyOf = files.filter(({ filename }) => !filename.includes('2.0')).map(({ hashes }) => hashes.sha256);
  const archive = { ...archiveOf(registry.url, '', 'lib'), url: `${registry.url}/simple/lib/`, anyOf };
  expect(await fill(dir, [archive])).toMatchObject({ kind: 'filled' });
  expect(filesOf(dir)).toEqual([names[0]]);
  registry.files.set('/simple/lib/', Buffer.from(JSON.stringify({ files: files.slice(3) })));
  expect(await fill(scratch(), [archive])).toMatchObject({
    why: 'the registry has no file with a hash of the lock file',
  });
  registry.files.set('/simple/lib/', Buffer.from('<html>'));
  expect(await fill(scratch(), [archive])).toMatchObject({ why: 'the index of the registry is not JSON' });
});

it.each([
  ['a status', 'the registry answered with status 404', '/x'],
  ['a registry that does not exist', 'the registry cannot be reached', 'http://127.0.0.1:9'],
])('names %s', async (_, why, at) => {
  const dir = scratch();
  await using registry = await openRegistry();
  const archive = { ...archiveOf(registry.url, 'x', 'x'), ...(at.startsWith('http') ? { url: `${at}/x` } : {}) };
  expect(await fill(dir, [archive])).toEqual({ kind: 'failed', archive: 'x', why });
});

it('leaves room on the disk', async () => {
  const dir = scratch();
  await using registry = await openRegistry({ '/x': 'x' });
  const report = await fill(dir, [archiveOf(registry.url, 'x', 'x')], { reserveBytes: Number.MAX_SAFE_INTEGER });
  expect(report).toMatchObject({ kind: 'failed', why: 'the disk is full' });
});
