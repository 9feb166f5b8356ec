import { expect, test } from 'vitest';
import type { RelPath } from '../../../../src/core/text/path.ts';
import type { ListedEntry } from '../../../../src/core/types/collector.ts';
import type { Collector } from '../../../../src/workspace/collector/client.ts';
import type { ComparedEntry } from '../../../../src/workspace/view/collect/compare-layer-to-base.ts';
import { setMaskedAside } from '../../../../src/workspace/view/collect/masked-aside.ts';

const entry = (path: string, kind: 'file' | 'dir' = 'file'): ListedEntry => ({
  path: path as RelPath,
  kind,
  mode: 0o644,
  size: 1,
  mtimeNs: '0',
  uid: 0,
  gid: 0,
  ino: '1',
  ctimeNs: '0',
  nlink: 1,
});
const pair = (path: string, before: boolean, after: 'file' | 'dir' | undefined): ComparedEntry => ({
  path: path as RelPath,
  before: before ? entry(path) : undefined,
  after: after === undefined ? undefined : entry(path, after),
});

function reader(texts: Readonly<Record<string, string>>): Collector {
  return {
    async *readUpTo(root: string, path: string) {
      yield Buffer.from(texts[`${root}/${path}`] ?? '');
    },
  } as unknown as Collector;
}

test('a change of a masked file is set aside, with the names that it added', async () => {
  const collector = reader({
    'base/.env': 'PORT=1\nDB_PASSWORD=xkqmvpe\n',
    'upper/.env': 'PORT=1\nDB_PASSWORD=other\nREDIS_URL=x\nan odd name=y\n',
  });
  const pairs = [pair('.env', true, 'file'), pair('src/a.ts', true, 'file')];
  const { pairs: rest, maskedEdits } = await setMaskedAside(pairs, { collector, masked: ['.env'] });
  expect(rest.map(({ path }) => path)).toEqual(['src/a.ts']);
  expect(maskedEdits).toEqual([{ path: '.env', added: ['REDIS_URL'] }]);
});

test('so are its deletion, and what took its place', async () => {
  const pairs = [pair('.env', true, 'dir'), pair('.env/x', false, 'file'), pair('a.key', true, undefined)];
  const aside = await setMaskedAside(pairs, { collector: reader({}), masked: ['.env', 'a.key'] });
  expect(aside.pairs).toEqual([]);
  expect(aside.maskedEdits.map(({ path }) => path)).toEqual(['.env', 'a.key']);
});

test('the folder of a masked file stays, and other folders are deleted', async () => {
  const pairs = [pair('a', true, undefined), pair('a/b.key', true, undefined), pair('c', true, undefined)];
  const { pairs: rest } = await setMaskedAside(pairs, { collector: reader({}), masked: ['a/b.key'] });
  expect(rest.map(({ path }) => path)).toEqual(['c']);
});

test('a file that has the same content is not an edit', async () => {
  const collector = reader({ 'base/.env': 'A=1', 'upper/.env': 'A=1' });
  const aside = await setMaskedAside([pair('.env', true, 'file')], { collector, masked: ['.env'] });
  expect(aside).toEqual({ pairs: [], maskedEdits: [] });
});
