import { describe, expect, it } from 'vitest';
import type { RelPath } from '../../../../src/core/text/path.ts';
import type { Change, Entry } from '../../../../src/core/types/entry.ts';
import type { ReviewItem } from '../../../../src/core/types/review.ts';
import { type FileDiff, fileDiff, type Hunk, splitLines, textDiff } from '../../../../src/review/choices/file-diff.ts';
import { applyHunks, hunkText, parseEditedHunk, splitHunk } from '../../../../src/review/choices/hunks.ts';
import { diffLines } from '../../../../src/review/screen/diff/diff-view.ts';
import { sideBySideLines } from '../../../../src/review/screen/diff/side-by-side.ts';
import { random } from '../../../support/apply/random-tree.ts';

const entry = (mode = 0o644): Entry => ({ kind: 'file', mode, size: 1, mtimeNs: '0' });
const change = (path: string, before = entry(), after = entry()): Change => ({
  path: path as RelPath,
  kind: 'modified',
  before,
  after,
});
const item = (of: Change): ReviewItem => ({ change: of, state: 'clean', findings: [] });
const plain = { colour: false, columns: 80 };

function hunksOf(before: string, after: string): { diff: Extract<FileDiff, { kind: 'text' }>; hunks: readonly Hunk[] } {
  const diff = textDiff(Buffer.from(before), Buffer.from(after));
  if (diff.kind !== 'text') throw new Error(diff.kind);
  return { diff, hunks: diff.hunks };
}

describe('parts of a file', () => {
  it('give the session’s file when all are chosen and the old one when none is, however they were split', () => {
    const next = random(3);
    for (let round = 0; round < 200; round++) {
      const text = (): string =>
        Array.from({ length: next(40) }, () => `${next(6)}\n`).join('') + (next(2) ? 'end' : '');
      const [before, after] = [text(), text()];
      const { hunks } = hunksOf(before, after);
      const old = splitLines(before);
      const parts = hunks.flatMap(splitHunk);
      expect(applyHunks(old, hunks).toString()).toBe(after);
      expect(applyHunks(old, parts).toString()).toBe(after);
      expect(applyHunks(old, []).toString()).toBe(before);
      for (const hunk of parts) expect(parseEditedHunk(hunk, hunkText(hunk))).toEqual(hunk);
    }
  });

  it('change only their own lines when chosen one by one', () => {
    const lines = Array.from({ length: 30 }, (_, at) => `line ${at}\n`);
    const after = lines.map((line, at) => (at === 3 || at === 25 ? `new ${at}\n` : line)).join('');
    const { hunks } = hunksOf(lines.join(''), after);
    expect(hunks).toHaveLength(2);
    const taken = applyHunks(lines, hunks.slice(1)).toString();
    expect(taken).toBe(lines.map((line, at) => (at === 25 ? 'new 25\n' : line)).join(''));
  });

  it('that were edited must still hold the lines of the file', () => {
    const [hunk] = hunksOf('a\nb\nc\n', 'a\nB\nc\n').hunks as [Hunk];
    expect(parseEditedHunk(hunk, ' a\n-b\n+Bee\n c\n')).toMatchObject({
      lines: [{}, {}, { op: '+', text: 'Bee\n' }, {}],
    });
    expect(parseEditedHunk(hunk, ' a\n+B\n c\n')).toMatch(/not those of the file/);
    expect(parseEditedHunk(hunk, 'a\n')).toMatch(/begins with neither/);
  });
});

describe('the shown difference', () => {
  const HOSTILE = [
    'safe\r evil',
    '\u001b]8;;http://x\u0007link\u001b]8;;\u0007 \u001b[8mhidden\u001b[0m \u001bPq\u001b\\',
    'diff --git a/x b/x',
    '--- a/harmless',
    '@@ -1 +1 @@',
    '\\ No newline at end of file',
    `${' '.repeat(300)}payload`,
    'bidi \u202e and zero\u200bwidth \u{e0041}',
    '\udcff bytes',
  ];
  const shown = (view: typeof diffLines, columns: number, colour: boolean): string[] => {
    const after = Buffer.from(HOSTILE.join('\n'));
    return view(item(change('na\u001b[2Jme\n')), fileDiff(change('n'), Buffer.from('old\n'), after), {
      colour,
      columns,
    });
  };

  it.each([
    ['unified', diffLines, 80],
    ['unified, narrow', diffLines, 20],
    ['side by side', sideBySideLines, 100],
  ] as const)(
    '%s: has no control characters, no cut line, and no line that looks like a header',
    (_, view, columns) => {
      for (const colour of [false, true]) {
        const lines = shown(view, columns, colour);
        const bare = lines.map((line) => line.replace(/\u001b\[[0-9;]*m/g, ''));
        for (const line of bare) expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
        expect(bare.join('').replace(/[\s↪|]/g, '')).toContain('payload');
        if (view === diffLines) {
          const heads = bare.slice(1).filter((line) => /^(diff|---|@@|\\ No)/.test(line));
          expect(heads).toHaveLength(1);
        }
      }
    },
  );

  it('shows a change of mode only, a change of kind, and binary content by its size', () => {
    const mode = diffLines(item({ ...change('x', entry(), entry(0o755)), kind: 'mode' }), { kind: 'none' }, plain);
    expect(mode).toEqual(['mode x', 'mode 644 → 755']);
    const binary = fileDiff(change('x'), Buffer.from('a'), Buffer.alloc(5000));
    expect(diffLines(item(change('x')), binary, plain)[1]).toMatch(/^binary: 1 B → /);
  });

  it('shows a script that contains one NUL, and marks the words that differ on both sides', () => {
    const script = Buffer.from('#!/bin/sh\n\0\ntouch marker\n');
    expect(fileDiff(change('x'), undefined, script).kind).toBe('text');
    const diff = fileDiff(change('x'), Buffer.from('one two three four\n'), Buffer.from('one TWO three four\n'));
    const inverse = /\u001b\[7m(two|TWO)\u001b\[27m/g;
    for (const view of [diffLines, sideBySideLines]) {
      const text = view(item(change('x')), diff, { colour: true, columns: 100 }).join('\n');
      expect([...text.matchAll(inverse)].map(([, word]) => word)).toEqual(['two', 'TWO']);
    }
  });

  it('shows all lines, with a note, when they cannot be compared in time', () => {
    const many = (mark: string): string =>
      Array.from({ length: 12_000 }, (_, at) => `${mark} ${at} ${at * 7}\n`).join('');
    const started = Date.now();
    const { diff } = hunksOf(many('a'), many('b'));
    expect(Date.now() - started).toBeLessThan(120_000);
    expect(diff.hunks.flatMap(({ lines }) => lines).filter(({ op }) => op === '+')).toHaveLength(12_000);
  });
});
