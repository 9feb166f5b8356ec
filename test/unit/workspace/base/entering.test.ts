import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { selectPaths } from '../../../../src/core/text/selection.ts';
import type { Plan } from '../../../../src/core/types/plan.ts';
import { countEntering, enteringWords, unmatchedLines } from '../../../../src/workspace/base/entering.ts';
import { prescanProject } from '../../../../src/workspace/base/prescan-project.ts';
import { beginEarlyScan } from '../../../../src/workspace/bind/early-scan.ts';
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
  expect(unmatchedLines(entering)[0]).toBe('nothing-here: nothing in the project matches it');
  expect(entering).toMatchObject({ files: 2, bytes: 4096, gitBytes: 1024, withheld: 4, ignored: 1 });
  expect(enteringWords(entering)).toBe(
    '2 files, 4 KB, and .git (1 KB); 3 paths are left out or empty, 1 path is ignored and left out',
  );
});

it.each([
  [{ files: 1, bytes: 0, withheld: 0 }, '1 file, 0 KB'],
  [{ files: 1234, bytes: 5.6 * 1024 ** 2, withheld: 1 }, '1,234 files, 5.6 MB; 1 path is left out or empty'],
  [{ files: 2, bytes: 3 * 1024 ** 3, withheld: 0 }, '2 files, 3.0 GB'],
  [{ files: 1, bytes: 5, withheld: 0, copiedIgnored: { files: 1, bytes: 5 } }, '1 file, 1 KB, ignored'],
  [
    {
      files: 9000,
      bytes: 3 * 1024 ** 2,
      withheld: 0,
      copiedIgnored: { files: 1500, bytes: 1024 ** 2 },
      gitBytes: 1024,
    },
    '9,000 files, 3.0 MB, 1,500 of them ignored (1.0 MB), and .git (1 KB)',
  ],
])('words of %j', (counts, words) =>
  expect(
    enteringWords({
      gitBytes: undefined,
      ignored: 0,
      copiedIgnored: { files: 0, bytes: 0 },
      ...counts,
      secrets: [],
      unsearched: [],
      unmatched: [],
    }),
  ).toBe(words),
);

it('counts the ignored files that are copied, as git ignores them', async () => {
  const root = mkdtempSync(path.join(tmpdir(), 'run-claude-entering-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const git = (...words: string[]): string => execFileSync('git', words, { cwd: root, encoding: 'utf8' });
  git('init', '-q');
  const put = (name: string): void => {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), 'x'.repeat(1000));
  };
  const ignored = ['.env', 'node_modules/a/index.js', 'node_modules/b.js', 'kept/other', 'src/deep/x.log'];
  for (const name of [...ignored, 'kept/tracked', 'tracked.log', 'src/a.ts', 'new.ts']) put(name);
  writeFileSync(path.join(root, '.gitignore'), '.env\nnode_modules/\nkept/\n*.log\n');
  git('add', '-f', 'kept/tracked', 'tracked.log', 'src/a.ts', '.gitignore');
  expect(git('ls-files', '-o', '-i', '--exclude-standard').trim().split('\n').sort()).toEqual(ignored.toSorted());

  const counted = (policy: object) => {
    const plan = { project: { root }, policy: { mode: 'copy', exclude: [], include: [], mask: [], ...policy } };
    const { signal } = new AbortController();
    return prescanProject(plan as unknown as Plan, path.join(root, '.git/base'), signal)?.counted;
  };
  expect(await counted({})).toMatchObject({ files: 10, ignored: 0, copiedIgnored: { files: 5, bytes: 5000 } });
  const left = await counted({ exclude: ['node_modules'] });
  expect(left).toMatchObject({ files: 8, copiedIgnored: { files: 3, bytes: 3000 } });
  expect(await counted({ copyIgnored: false })).toMatchObject({ files: 5, copiedIgnored: { files: 0, bytes: 0 } });

  // Git's directory of a shallow copy is made later: its size is not known yet.
  const shallow = await counted({ shallow: true });
  expect(shallow).toMatchObject({ files: 8, gitBytes: undefined, commits: 50, copiedIgnored: { files: 3 } });
  expect(shallow && enteringWords(shallow)).toMatch(
    /^8 files, 7 KB, 3 of them ignored \(3 KB\), and the last 50 commits of \.git; 1 path is left out or empty$/,
  );

  const bound = beginEarlyScan({ root, git: 'directory' } as Plan['project'], { mask: [] });
  expect(await bound.counted).toMatchObject({
    files: 10,
    gitBytes: undefined,
    copiedIgnored: { files: 5, bytes: 5000 },
  });
});
