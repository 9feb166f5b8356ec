import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Change } from '../../../../src/core/types/entry.ts';
import {
  bodyOf,
  inertText,
  messageOf,
  type Published,
  titleOf,
} from '../../../../src/review/publish/pull-request-text.ts';

/** What a forge acts on, in the text of a pull request and in a squashed commit's message. */
const ACTS = [
  /(^|\W)@\w/,
  /#\d/,
  /\bGH-\d/i,
  /:\/\//,
  /\bwww\./i,
  /<!--|<\w|<\//,
  /\[(skip|no)[ -]|\[ci skip/i,
  /[\p{Cc}\p{Cf}]/u,
];
const acting = (text: string): string[] => ACTS.filter((one) => one.test(text)).map(String);

describe('inertText', () => {
  it.each([
    ['packages/@scope/x.js', '`packages/\\x40scope/x.js`'],
    ['fixes #12', '`fixes \\x2312`'],
    ['closes owner/name#12', '`closes owner/name\\x2312`'],
    ['resolves GH-12', '`resolves GH\\x2d12`'],
    ['fixes https://github.com/o/r/issues/1', '`fixes https\\x3a//github.com/o/r/issues/1`'],
    ['<!-- hidden -->', '`\\x3c!-- hidden --\\x3e`'],
    ['a`b', '`a\\x60b`'],
    ['[skip ci].txt', '`\\x5bskip ci].txt`'],
    ['pages/[id].tsx', '`pages/[id].tsx`'],
    ['C#/main.cs', '`C\\x23/main.cs`'],
    ['a\n\n/merge', '`a\\u{a}\\u{a}/merge`'],
    ['a\u202eb', '`a\\u{202e}b`'],
  ])('%j is %j', (text, shown) => {
    expect(inertText(text)).toBe(shown);
  });

  it('never acts, whatever the text', () => {
    const part = fc.constantFrom(
      '@',
      'fixes ',
      '#',
      '1',
      'GH-',
      '://',
      'www.',
      '<!--',
      '-->',
      '`',
      '[',
      'skip',
      'ci',
      ']',
      ' ',
      '\n',
      'a',
    );
    const text = fc.oneof(
      fc.array(part, { maxLength: 12 }).map((parts) => parts.join('')),
      fc.string({ unit: 'binary' }),
    );
    fc.assert(
      fc.property(text, (one) => {
        const shown = inertText(one);
        expect(acting(shown)).toEqual([]);
        expect(shown.slice(1, -1)).not.toContain('`');
        expect(shown.length).toBeLessThan(300);
      }),
      { numRuns: 300 },
    );
  });
});

describe('the text of a commit and a pull request', () => {
  const change = (path: string): Change => ({ path, kind: 'created', after: { kind: 'file' } }) as unknown as Change;
  const hostile = '@everyone fixes #1 <!-- x --> https://evil.example [skip ci]\n\nCo-authored-by: x <x@example.org>';
  const published: Published = {
    sessionId: '261121-140512-k7p',
    tool: '0.1.0',
    title: undefined,
    changes: [change(hostile), change('b')],
    findings: [
      { rule: 'r', severity: 'suspect', path: hostile, title: 'Suspect file modified', why: hostile } as never,
    ],
    left: 1,
  };

  it('has nothing of the session that acts', () => {
    const texts = [titleOf(published), messageOf(published), bodyOf(published)];
    for (const text of texts) expect(acting(text.replaceAll('\n', ' '))).toEqual([]);
    expect(bodyOf(published)).not.toMatch(/^Co-authored-by/m);
    expect(bodyOf(published)).toContain('1 more change of the session is not here');
  });

  it('has no text of the session in the message of the commit', () => {
    expect(messageOf(published)).toBe(
      'Apply session 261121-140512-k7p (2 files changed)\n\nSession 261121-140512-k7p of run-claude 0.1.0: 2 files changed.\n',
    );
  });

  it('keeps the words of the user on one line, without controls', () => {
    expect(titleOf({ ...published, title: 'Fix #12\x1b[2J\nmore' })).toBe('Fix #12\\u{1b}[2J');
    expect(titleOf({ ...published, title: '  \n' })).toMatch(/^Apply session/);
  });

  it('names a hundred files at most', () => {
    const many = Array.from({ length: 105 }, (_, at) => change(`f${at}`));
    expect(bodyOf({ ...published, changes: many })).toContain('- and 5 more');
  });
});
