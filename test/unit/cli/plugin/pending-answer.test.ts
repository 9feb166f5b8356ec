import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ANSWER_MS, askForCode, readPending, takeAnswer } from '../../../../src/cli/plugin/pending-answer.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'pending-answer-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const asked = { action: 'apply', session: 's' } as const;

it('a code is good once, for its own question', () => {
  const { code } = askForCode(dir, 'k', asked, 0);
  expect(code).toMatch(/^\d{6}$/);
  expect(statSync(path.join(dir, 'plugin', 'k.json')).mode & 0o777).toBe(0o600);
  expect(takeAnswer(dir, 'other', { action: 'apply', code }, 1)).toBeUndefined();
  expect(takeAnswer(dir, 'k', { action: 'apply', code }, 1)).toMatchObject(asked);
  expect(takeAnswer(dir, 'k', { action: 'apply', code }, 1)).toBeUndefined();
});

it('a wrong code ends the question: there is no second guess', () => {
  const { code } = askForCode(dir, 'k', asked, 0);
  const wrong = code === '000000' ? '000001' : '000000';
  expect(takeAnswer(dir, 'k', { action: 'apply', code: wrong }, 1)).toBeUndefined();
  expect(takeAnswer(dir, 'k', { action: 'apply', code }, 1)).toBeUndefined();
});

it('a code of another action, and one that comes too late, are not answers', () => {
  const first = askForCode(dir, 'k', asked, 0);
  expect(takeAnswer(dir, 'k', { action: 'discard', code: first.code }, 1)).toBeUndefined();
  const second = askForCode(dir, 'k', asked, 0);
  expect(readPending(dir, 'k', ANSWER_MS)).toMatchObject(asked);
  expect(readPending(dir, 'k', ANSWER_MS + 1)).toBeUndefined();
  expect(takeAnswer(dir, 'k', { action: 'apply', code: second.code }, ANSWER_MS + 1)).toBeUndefined();
});

it('a damaged question is an error, so that the hook refuses', () => {
  askForCode(dir, 'k', asked, 0);
  writeFileSync(path.join(dir, 'plugin', 'k.json'), '{"version":1}');
  expect(() => readPending(dir, 'k', 0)).toThrow(/action is missing/);
});
