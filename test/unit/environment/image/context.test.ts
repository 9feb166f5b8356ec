import { createHash } from 'node:crypto';
import { chmodSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { extract, type Header } from 'tar-stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Archive } from '../../../../src/core/types/engine.ts';
import { type ContextEntry, withContext } from '../../../../src/environment/image/context.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'run-claude-context-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const entries = (): ContextEntry[] => {
  const file = path.join(dir, 'fetched.tgz');
  writeFileSync(file, 'fetched');
  return [
    { path: 'images/b.c', content: Buffer.from('int b;') },
    { path: 'Dockerfile', content: 'FROM x' },
    { path: 'images/a/a.c', content: Buffer.from('int a;') },
    { path: 'fetched/node.tgz', content: { file } },
  ];
};

const bytesOf = async (archive: Archive): Promise<Buffer> => {
  const parts: Uint8Array[] = [];
  for await (const part of archive) parts.push(part as Uint8Array);
  return Buffer.concat(parts);
};

it('has every file, sorted, and no owner, mode or time of this machine', async () => {
  const headers: Header[] = [];
  const contents: Record<string, string> = {};
  await withContext(dir, entries(), async (archive) => {
    for await (const entry of Readable.from([await bytesOf(archive)]).pipe(extract())) {
      headers.push(entry.header);
      const parts: Buffer[] = [];
      for await (const part of entry) parts.push(part as Buffer);
      if (entry.header.type === 'file') contents[entry.header.name] = Buffer.concat(parts).toString();
    }
  });
  expect(contents).toEqual({
    Dockerfile: 'FROM x',
    'fetched/node.tgz': 'fetched',
    'images/a/a.c': 'int a;',
    'images/b.c': 'int b;',
  });
  const facts = new Set(
    headers.map(({ type, mode, uid, gid, mtime }) => JSON.stringify([type, mode, uid, gid, mtime])),
  );
  expect(facts).toEqual(
    new Set([
      JSON.stringify(['file', 0o644, 0, 0, new Date(0)]),
      JSON.stringify(['directory', 0o755, 0, 0, new Date(0)]),
    ]),
  );
});

it('has the same bytes again, whatever the umask, the modes and the times', async () => {
  const digests: string[] = [];
  const mask = process.umask();
  try {
    for (const umask of [0o022, 0o077]) {
      process.umask(umask);
      const all = entries();
      chmodSync(path.join(dir, 'fetched.tgz'), umask === 0o077 ? 0o755 : 0o600);
      utimesSync(path.join(dir, 'fetched.tgz'), umask, umask);
      await withContext(dir, umask === 0o077 ? all.toReversed() : all, async (archive) => {
        digests.push(
          createHash('sha256')
            .update(await bytesOf(archive))
            .digest('hex'),
        );
      });
    }
  } finally {
    process.umask(mask);
  }
  expect(digests[1]).toBe(digests[0]);
});

it('leaves no directory behind, also when the build fails', async () => {
  await withContext(dir, entries(), async () => {
    expect(readdirSync(dir)).toHaveLength(2);
  });
  const failing = withContext(dir, entries(), async () => {
    throw new Error('the build fails');
  });
  await expect(failing).rejects.toThrow('the build fails');
  expect(readdirSync(dir)).toEqual(['fetched.tgz']);
});
