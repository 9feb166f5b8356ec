import { expect, it } from 'vitest';
import type { RelPath } from '../../../../src/core/text/path.ts';
import type { Change, Entry } from '../../../../src/core/types/entry.ts';
import type { Finding } from '../../../../src/core/types/finding.ts';
import { buildReview } from '../../../../src/review/choices/build-review.ts';
import { changeList } from '../../../../src/review/screen/change-list.ts';

const entry = (digest: string): Entry => ({ kind: 'file', mode: 0o644, size: 1, mtimeNs: '0', digest });
const edited = (path: string): Change => ({
  path: path as RelPath,
  kind: 'modified',
  before: entry(`old ${path}`),
  after: entry(path),
});
const suspect = (path: string): Finding => ({
  rule: 'r',
  severity: 'suspect',
  path: path as RelPath,
  title: 't',
  why: 'w',
});
const list = (changes: readonly Change[], folder?: string, findings: readonly Finding[] = []): string[] => {
  const collected = { changes, problems: [], withheld: [], baseEntries: 100_000 };
  const review = buildReview({ collected, findings, allowSuspect: [], includeIgnored: false });
  return changeList(review, { colour: false, folder });
};

/** As the field trial's session in a repository of 56,970 files: 2,000 edits, 1,879 renames, 70 plain deletions. */
function manyChanges(): Change[] {
  const name = (at: number): string => `test/built-ins/part${at % 90}/case${at % 7}/file${at}.js`;
  const changes: Change[] = Array.from({ length: 2_000 }, (_, at) => edited(name(at)));
  for (let at = 2_000; at < 3_879; at++) {
    const same = entry(`${at}`);
    changes.push({ path: name(at) as RelPath, kind: 'deleted', before: same });
    changes.push({ path: name(at).replace('test/', 'tests/') as RelPath, kind: 'created', after: same });
  }
  for (let at = 0; at < 70; at++) {
    changes.push({ path: `harness/gone${at}.js` as RelPath, kind: 'deleted', before: entry(`gone ${at}`) });
  }
  changes.push(edited('Makefile'), edited('src/one.js'), edited('src/two.js'));
  return changes.sort((a, b) => (a.path < b.path ? -1 : 1));
}

it('lists 5,800 changes by folder in a few screens, deletions last, suspect changes by name', () => {
  const path = 'test/built-ins/part3/case3/file3.js';
  const lines = list(manyChanges(), undefined, [suspect(path)]);
  expect(lines.length).toBeLessThan(140);
  expect(lines[0]).toBe('~ Makefile');
  expect(lines).toContain('src/');
  expect(lines).toContain('  ~ one.js');
  expect(lines.some((line) => /^tests\/built-ins\/\S*\/? {2}[\d,]+ files: [\d,]+ renamed$/.test(line))).toBe(true);
  expect(lines.filter((line) => line.includes('SUSPECT'))).toEqual([expect.stringMatching(/file3\.js {2}SUSPECT$/)]);
  const deletions = lines.indexOf('deletions (70):');
  expect(deletions).toBeGreaterThan(0);
  expect(lines.slice(deletions + 1).some((line) => line.startsWith('~') || line.startsWith('+'))).toBe(false);
  expect(lines[deletions + 1]).toBe('harness/  70 files: 70 deleted');
  expect(lines.at(-1)).toBe('l FOLDER lists the changes below a folder');
});

it('lists the changes below a folder, and reports a folder without changes', () => {
  const lines = list(manyChanges(), './test/built-ins/part3/case3/');
  expect(lines.slice(0, 2)).toEqual([
    '~ test/built-ins/part3/case3/file1263.js',
    '~ test/built-ins/part3/case3/file1893.js',
  ]);
  expect(lines.length).toBeLessThan(12);
  expect(list(manyChanges(), 'nowhere')).toEqual(['no changes below nowhere']);
});

it('is a flat list for few changes, with a rename as one line', () => {
  const moved = entry('same');
  const lines = list([
    edited('a.txt'),
    { path: 'doc.txt' as RelPath, kind: 'deleted', before: moved },
    { path: 'docs.txt' as RelPath, kind: 'created', after: moved },
    { path: 'gone.txt' as RelPath, kind: 'deleted', before: entry('gone') },
  ]);
  expect(lines).toEqual(['~ a.txt', 'r docs.txt (from doc.txt)', '', 'deletions (1):', '- gone.txt']);
});

it('removes control characters from names', () => {
  const many = Array.from({ length: 400 }, (_, at) => edited(`fold\u001b[2Jer${at % 5}/na\u202eme${at}\n`));
  expect(list(many).join('')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
});
