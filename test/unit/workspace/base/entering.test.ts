import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { selectPaths } from '../../../../src/core/text/selection.ts';
import { countEntering, enteringWords } from '../../../../src/workspace/base/entering.ts';
import { walkTree } from '../../../../src/workspace/scan/walk.ts';

const PATTERNS = ['*.pem', 'secrets/', '.ENV', 'nothing-here', 'secrets/inner.pem'];

async function walked() {
  const root = mkdtempSync(path.join(tmpdir(), 'run-claude-entering-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  mkdirSync(path.join(root, 'secrets'));
  mkdirSync(path.join(root, 'src/deep'), { recursive: true });
  for (const name of ['a.pem', 'secrets/inner.pem', '.env', 'src/one.txt', 'src/deep/two.txt'])
    writeFileSync(path.join(root, name), 'x'.repeat(2048));
  mkdirSync(path.join(root, '.git/refs'), { recursive: true });
  for (const name of ['.git/HEAD', '.git/refs/x']) writeFileSync(path.join(root, name), 'x'.repeat(512));
  writeFileSync(path.join(root, 'out.log'), '');
  const named = selectPaths({ exclude: PATTERNS.filter((one) => one !== '.ENV'), include: [], mask: ['.ENV'] });
  // As --no-ignored.
  const selection = {
    ...named,
    leftOut: (at: string, isFolder: boolean) => at.endsWith('.log') || named.leftOut(at, isFolder),
  };
  const { signal } = new AbortController();
  return {
    named,
    ...(await walkTree({ root, grafts: new Map(), selection, known: undefined, maxPathBytes: 4096, signal })),
  };
}

it('counts what is copied from the scan, and names the patterns that match nothing in the project', async () => {
  const { snapshot, withheld, named } = await walked();
  const entering = countEntering({ snapshot, withheld }, { named, typed: PATTERNS });
  // What is in a directory that is left out is matched by nothing else.
  expect(entering.unmatched).toEqual(['nothing-here', 'secrets/inner.pem']);
  expect(entering).toMatchObject({ files: 2, bytes: 4096, gitBytes: 1024, withheld: 4, ignored: 1 });
  expect(enteringWords(entering)).toBe(
    '2 files, 4 KB, and .git (1 KB); 3 paths are left out or empty, 1 path is ignored and left out',
  );
});

it.each([
  [{ files: 1, bytes: 0, withheld: 0 }, '1 file, 0 KB'],
  [{ files: 1234, bytes: 5.6 * 1024 ** 2, withheld: 1 }, '1,234 files, 5.6 MB; 1 path is left out or empty'],
  [{ files: 2, bytes: 3 * 1024 ** 3, withheld: 0 }, '2 files, 3.0 GB'],
])('words of %j', (counts, words) =>
  expect(enteringWords({ gitBytes: undefined, ignored: 0, ...counts, unmatched: [] })).toBe(words),
);
