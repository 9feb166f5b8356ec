import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Archive } from '../../../../../src/environment/caches/ecosystem.ts';
import { fillCache } from '../../../../../src/environment/caches/inside/fill-cache.ts';
import type { FillReport, FillRequest } from '../../../../../src/environment/caches/inside/request.ts';
import { openRegistry, sha } from '../../../../support/registry.ts';

const WORKER = path.resolve(
  import.meta.dirname,
  '../../../../../node_modules/.cache/run-claude-tests/workers/fill-worker.cjs',
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
  fillCache(
    {
      archives,
      dir: path.join(dir, 'cache'),
      previous: undefined,
      maxArchiveBytes: 2 ** 31,
      reserveBytes: 0,
      stallMs: 60_000,
      ...more,
    },
    () => undefined,
  );

const filesOf = (dir: string): string[] =>
  readdirSync(path.join(dir, 'cache'), { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [entry.name] : [],
  );

it('fetches each archive to its path, in the program of the container', async () => {
  const dir = scratch();
  await using registry = await openRegistry({ '/a/one.tgz': 'one', '/two.tgz': 'two' });
  const archives = [archiveOf(registry.url, 'one', 'a/one.tgz'), archiveOf(registry.url, 'two', 'two.tgz')];
  const request: FillRequest = {
    archives,
    dir: path.join(dir, 'cache'),
    previous: undefined,
    maxArchiveBytes: 2 ** 31,
    reserveBytes: 0,
    stallMs: 60_000,
  };
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

it('keeps only bytes that have every hash of the lock files', async () => {
  await using registry = await openRegistry({ '/lib.jar': 'lib' });
  const named = archiveOf(registry.url, 'lib', 'lib.jar');
  const withAlso = (hex: string): Archive => ({ ...named, alsoHashes: [{ name: 'sha512', hex }] });
  expect(await fill(scratch(), [withAlso(sha('sha512', 'lib'))])).toEqual({ kind: 'filled', bytes: 3 });
  const dir = scratch();
  expect(await fill(dir, [withAlso(sha('sha512', 'other'))])).toMatchObject({ kind: 'failed', archive: 'lib.jar' });
  expect(filesOf(dir)).toEqual([]);
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
  const sha256 = files.filter(({ filename }) => !filename.includes('2.0')).map(({ hashes }) => hashes.sha256);
  const release = { package: 'lib', version: '1.0', sha256 };
  const archive = { ...archiveOf(registry.url, '', 'lib-1.0'), url: `${registry.url}/simple/lib/`, release };
  expect(await fill(dir, [archive])).toMatchObject({ kind: 'filled' });
  expect(filesOf(dir)).toEqual([names[0]]);
  registry.files.set('/simple/lib/', Buffer.from(JSON.stringify({ files: files.slice(3) })));
  expect(await fill(scratch(), [archive])).toMatchObject({
    why: 'the registry has no file with a hash of the lock file',
  });
  registry.files.set('/simple/lib/', Buffer.from('<html>'));
  expect(await fill(scratch(), [archive])).toMatchObject({ why: 'the index of the registry is not JSON' });
});

it('pip: takes no file under the name of another package or version', async () => {
  const take = async (named: string, version: string, name: string): Promise<readonly string[]> => {
    const hash = sha('sha256', 'x');
    const files = [{ filename: name, url: '/f', hashes: { sha256: hash } }];
    await using registry = await openRegistry({ '/f': 'x', '/simple/': JSON.stringify({ files }) });
    const dir = scratch();
    const url = `${registry.url}/simple/`;
    const release = { package: named, version, sha256: [hash] };
    await fill(dir, [{ ...archiveOf(registry.url, 'x', 'lib-1.0'), url, release }]);
    return filesOf(dir);
  };
  const others = ['other-1.0-py3-none-any.whl', 'lib2-1.0-py3-none-any.whl', 'lib-1.1-py3-none-any.whl'];
  for (const name of [...others, 'other-1.0.tar.gz', 'li-b-1.0.tar.gz', 'lib.zip', 'a-lib-1.0.zip'])
    expect([name, await take('lib', '1.0', name)]).toEqual([name, []]);
  expect(await take('lib', '1.1.0', 'lib-1.10.tar.gz')).toEqual([]);
  expect(await take('lib-2', '1.0', 'lib-21.0.tar.gz')).toEqual([]);
  const same: readonly (readonly [named: string, version: string, name: string])[] = [
    ['lib', '1.0', 'LIB-1.0-py3-none-any.whl'],
    ['my-lib-two', '1.0', 'my-lib-two-1.0.tar.gz'],
    ['lib', '1.0+local.1', 'lib-1.0+local_1-py3-none-any.whl'],
    ['lib', '1.0c1', 'lib-1.0rc1.zip'],
  ];
  for (const [named, version, name] of same) expect([name, await take(named, version, name)]).toEqual([name, [name]]);
});

it.each([
  ['an archive', ''],
  ['an index', '/simple/lib/'],
])('asks again for %s when the registry closes the connection', async (_, index) => {
  const wheel = 'lib-1.0-py3-none-any.whl';
  const hash = sha('sha256', 'wheel');
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    if (requests === 1) request.socket.destroy();
    else if (request.url !== index) response.end('wheel');
    else response.end(JSON.stringify({ files: [{ filename: wheel, url: '/f', hashes: { sha256: hash } }] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${index}`;
  const archive = {
    ...archiveOf(url, 'wheel', wheel),
    ...(index === '' ? {} : { url, release: { package: 'lib', version: '1.0', sha256: [hash] }, path: 'lib-1.0' }),
  };
  const dir = scratch();
  expect(await fill(dir, [archive])).toEqual({ kind: 'filled', bytes: 5 });
  expect(filesOf(dir)).toEqual([wheel]);
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

it('follows no redirect: another host is not asked, and nothing is kept', async () => {
  const dir = scratch();
  await using elsewhere = await openRegistry({ '/lib.tgz': 'good' });
  const server = createServer((_, response) => {
    response.writeHead(302, { location: `${elsewhere.url}/lib.tgz` }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const report = await fill(dir, [archiveOf(url, 'good', 'lib.tgz')]);
  expect(report).toEqual({
    kind: 'failed',
    archive: 'lib.tgz',
    why: 'the registry answered with a redirect (status 302), which is not followed',
  });
  expect([elsewhere.asked, filesOf(dir)]).toEqual([[], []]);
});

it('leaves out what may be absent where the registry answers that it has no such file, and nothing else', async () => {
  const dir = scratch();
  await using registry = await openRegistry({ '/lib.jar': 'lib', '/bad.jar': 'poison' });
  const plugin: Archive = { ...archiveOf(registry.url, 'plugin', 'plugin.jar'), mayBeAbsent: true };
  const lib: Archive = { ...archiveOf(registry.url, 'lib', 'lib.jar'), mayBeAbsent: true };
  const reports: FillReport[] = [];
  const request = { dir: path.join(dir, 'cache'), previous: undefined, maxArchiveBytes: 2 ** 31 };
  const limits = { reserveBytes: 0, stallMs: 60_000 };
  const report = await fillCache({ ...request, ...limits, archives: [plugin, lib] }, (line) => void reports.push(line));
  expect(report).toEqual({ kind: 'filled', bytes: 3 });
  expect(reports.filter(({ kind }) => kind === 'absent')).toEqual([{ kind: 'absent', path: 'plugin.jar' }]);
  expect(filesOf(dir)).toEqual(['lib.jar']);
  // A file that has to be there, and one with another hash, still end it.
  const why = 'the registry answered with status 404';
  expect(await fill(scratch(), [archiveOf(registry.url, 'plugin', 'plugin.jar')])).toMatchObject({ why });
  const bad: Archive = { ...archiveOf(registry.url, 'bad', 'bad.jar'), mayBeAbsent: true };
  expect(await fill(scratch(), [bad])).toMatchObject({ why: 'the registry sent other bytes than the lock file names' });
});

/** A registry that answers in its own way. Returns its URL. */
async function serve(answer: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((_, response) => answer(response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it.each<[string, (response: ServerResponse) => void]>([
  ['before its answer', () => undefined],
  ['behind its headers', (response) => void response.flushHeaders()],
  ['in the middle', (response) => void response.write('ha')],
])('gives up a registry that sends nothing more %s, and keeps nothing', async (_, answer) => {
  const dir = scratch();
  const url = await serve(answer);
  const report = await fill(dir, [archiveOf(url, 'half', 'lib.tgz')], { stallMs: 200 });
  expect(report).toEqual({ kind: 'failed', archive: 'lib.tgz', why: 'the registry sent nothing for 1 s' });
  expect(filesOf(dir)).toEqual([]);
});

it('waits for a slow registry as long as it sends something', async () => {
  const dir = scratch();
  const url = await serve((response) => {
    let sent = 0;
    const timer = setInterval(() => {
      response.write('x');
      sent += 1;
      if (sent < 8) return;
      clearInterval(timer);
      response.end();
    }, 150);
  });
  expect(await fill(dir, [archiveOf(url, 'x'.repeat(8), 'lib.tgz')], { stallMs: 600 })).toMatchObject({ bytes: 8 });
});

it.each<[string, string, (response: ServerResponse) => void]>([
  [
    'that breaks off',
    'the registry broke off its answer',
    (response) => {
      response.writeHead(200, { 'content-length': '4' }).write('ha', () => setTimeout(() => response.destroy(), 20));
    },
  ],
  ['that ends', 'the registry sent other bytes than the lock file names', (response) => void response.end('ha')],
])('keeps nothing of half a file %s', async (_, why, answer) => {
  const dir = scratch();
  const report = await fill(dir, [archiveOf(await serve(answer), 'half', 'lib.tgz')]);
  expect(report).toEqual({ kind: 'failed', archive: 'lib.tgz', why });
  expect(filesOf(dir)).toEqual([]);
});

/** A registry that sends pieces of 1 MB until it has sent this many, or the client closes the connection. */
async function openEndless(pieces: number): Promise<{ readonly url: string; readonly sent: () => number }> {
  let sent = 0;
  const server = createServer((_, response) => {
    const more = (): void => {
      if (sent >= pieces || response.destroyed) return void response.end();
      sent += 1;
      response.write(Buffer.alloc(1 << 20), () => setImmediate(more));
    };
    more();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sent: () => sent };
}

it('keeps nothing of an answer without an end', async () => {
  const dir = scratch();
  const endless = await openEndless(200);
  const report = await fill(dir, [archiveOf(endless.url, 'x', 'x')], { maxArchiveBytes: 8 << 20 });
  expect(report).toMatchObject({ kind: 'failed', why: 'it is larger than 2 GB' });
  expect(filesOf(dir)).toEqual([]);
  expect(endless.sent()).toBeLessThan(200);
});

it('keeps nothing of an index without an end', async () => {
  const dir = scratch();
  const endless = await openEndless(400);
  const release = { package: 'x', version: '1.0', sha256: [sha('sha256', 'x')] };
  const archive = { ...archiveOf(endless.url, 'x', 'x'), release };
  expect(await fill(dir, [archive])).toMatchObject({ why: 'the index of the registry is larger than 64 MB' });
  expect(filesOf(dir)).toEqual([]);
  expect(endless.sent()).toBeLessThan(400);
});

it('stops before one large archive fills the disk', async () => {
  const dir = scratch();
  const { bavail, bsize } = statfsSync(dir);
  const endless = await openEndless(400);
  const report = await fill(dir, [archiveOf(endless.url, 'x', 'x')], { reserveBytes: bavail * bsize - (64 << 20) });
  expect(report).toMatchObject({ kind: 'failed', why: 'the disk is full' });
  expect(filesOf(dir)).toEqual([]);
  expect(endless.sent()).toBeLessThan(400);
});

it('leaves room on the disk', async () => {
  const dir = scratch();
  await using registry = await openRegistry({ '/x': 'x' });
  const report = await fill(dir, [archiveOf(registry.url, 'x', 'x')], { reserveBytes: Number.MAX_SAFE_INTEGER });
  expect(report).toMatchObject({ kind: 'failed', why: 'the disk is full' });
});
