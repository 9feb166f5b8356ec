import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import type { RelPath } from '../../../../src/core/text/path.ts';
import { askMerge } from '../../../../src/review/screen/ask/ask-conflict.ts';
import type { Screen } from '../../../../src/terminal/screen.ts';

it.each([
  ['y\n', true],
  ['yes\n', true],
  ['\n', false],
  ['all\n', false],
  ['', false],
])('shows the merge cleaned, and accepts it only after a yes: %j', async (typed, isTaken) => {
  const stdin = new PassThrough();
  const stderr = new PassThrough();
  const screen = { stdin, stderr, env: {}, colour: false, dumb: true } as unknown as Screen;
  let shown = '';
  stderr.on('data', (chunk: Buffer) => {
    const wasAsked = shown.includes('[y/N/?]:');
    shown += chunk;
    if (!wasAsked && shown.includes('[y/N/?]:')) stdin.end(typed);
  });
  const merge = {
    path: 'src/\u001b[2Ja' as RelPath,
    host: Buffer.from('one\ntwo\n'),
    merged: Buffer.from('one\ntwo\nthree\u001b[6n\n'),
  };
  expect(await askMerge(screen, merge)).toBe(isTaken);
  expect(shown).toContain('+three');
  expect(shown).toMatch(/was changed on the host too\. Apply the merge above\? \[y\/N\/\?\]:/);
  expect(shown).not.toContain('\u001b');
});
