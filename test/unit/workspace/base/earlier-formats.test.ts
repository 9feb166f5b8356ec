import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addRef, dropVoidRefs, generationRefs } from '../../../../src/workspace/base/generations/generation-refs.ts';
import { loadManifest } from '../../../../src/workspace/base/generations/manifest.ts';
import { refresh } from '../../../support/workspace/refresh-scene.ts';

/** What earlier releases wrote: a project with a.txt and sub/b.txt, by the sources of those releases. */
const fixtures = path.join(import.meta.dirname, 'fixtures');

let dir: string;
beforeEach(() => {
  dir = realpathSync(mkdtempSync(path.join(tmpdir(), 'run-claude-formats-')));
  mkdirSync(path.join(dir, 'project'));
  writeFileSync(path.join(dir, 'project', 'a.txt'), 'current');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const inBase = (...names: string[]): string => path.join(dir, 'base', ...names);
const start = async (id: string): Promise<string> => {
  const base = await refresh(dir, id);
  return readFileSync(path.join(base.dir, 'tree', 'a.txt'), 'utf8');
};
/** Ends the session, so that nothing references its generation. */
const end = (id: string): void => rmSync(path.join(dir, 'sessions', id), { recursive: true });

describe('a generation that this release cannot use is recreated', () => {
  it.each(['format-1', 'format-2'])('%s', async (format) => {
    mkdirSync(inBase('gen', '1', 'tree'), { recursive: true });
    writeFileSync(inBase('gen', '1', 'tree', 'a.txt'), 'stale');
    copyFileSync(path.join(fixtures, format, 'manifest'), inBase('gen', '1', 'manifest'));
    expect(loadManifest(inBase('gen', '1'), () => undefined)).toBeUndefined();
    expect(await start('s1')).toBe('current');
  });

  it.each([
    ['of an earlier format', '"version":3', '"version":2'],
    ['without a state', '"state":"', '"stats":"'],
    ['whose root has no mode', '"root":{"mode":', '"root":{"made":'],
  ])('one %s, which is otherwise intact', async (_, was, is) => {
    await start('s1');
    end('s1');
    writeFileSync(inBase('gen', '1', 'tree', 'a.txt'), 'damaged');
    expect(await start('s2')).toBe('damaged');
    end('s2');
    const manifest = readFileSync(inBase('gen', '1', 'manifest'), 'latin1');
    expect(manifest).toContain(was);
    writeFileSync(inBase('gen', '1', 'manifest'), manifest.replace(was, is), 'latin1');
    expect(await start('s3')).toBe('current');
  });

  it.each(['{"half', '{"version": 9}', '[{"path": "../../secret", "directory": false}]'])(
    'one with a journal that says %s',
    async (journal) => {
      await start('s1');
      end('s1');
      writeFileSync(inBase('gen', '1', 'tree', 'a.txt'), 'damaged');
      writeFileSync(inBase('gen', '1', 'journal'), journal);
      expect(await start('s2')).toBe('current');
    },
  );

  it('one that names no generation below it', async () => {
    await start('s1');
    end('s1');
    writeFileSync(inBase('gen', '1', 'over'), 'NaN');
    expect(await start('s2')).toBe('current');
  });
});

describe('references of sessions', () => {
  it('reads a reference of an earlier release, without a version', () => {
    mkdirSync(inBase('users'), { recursive: true });
    const written = JSON.parse(readFileSync(path.join(fixtures, 'format-1', 'session.json'), 'utf8')) as object;
    writeFileSync(inBase('users', 's.json'), JSON.stringify({ ...written, sessionDir: dir }));
    expect(generationRefs(inBase())).toEqual([{ generation: 1, sessionDir: dir }]);
  });

  it('writes a reference with a version, and removes it with its session', () => {
    addRef(inBase(), 's', { generation: 2, sessionDir: path.join(dir, 'none') });
    expect(JSON.parse(readFileSync(inBase('users', 's.json'), 'utf8'))).toMatchObject({ version: 1, generation: 2 });
    dropVoidRefs(inBase());
    expect(() => readFileSync(inBase('users', 's.json'))).toThrow('ENOENT');
  });

  it.each([
    ['{"version": 2, "generation": 1, "sessionDir": "/s"}', 'RECORD_VERSION'],
    ['{"generation": "1", "sessionDir": "/s"}', 'RECORD_DAMAGED'],
    ['{"generation": 1}', 'RECORD_DAMAGED'],
  ])('%s is refused and not ignored: the generation that it protects must not change', async (text, code) => {
    mkdirSync(inBase('users'), { recursive: true });
    writeFileSync(inBase('users', 's.json'), text);
    await expect(start('s1')).rejects.toMatchObject({ code });
  });
});
