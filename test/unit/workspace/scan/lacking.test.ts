import { expect, it } from 'vitest';
import { EVERYTHING, type SelectionRules, selectPaths } from '../../../../src/core/text/selection.ts';
import { lackingPaths } from '../../../../src/workspace/scan/lacking.ts';

const lacking = (rules: Partial<SelectionRules>, leftOut: readonly string[] = []) =>
  lackingPaths(selectPaths({ exclude: [], include: [], mask: [], ...rules }), leftOut);

it('knows what rules leave out or mask, what is below it, and what an include brings back', () => {
  const { lackOf } = lacking({ exclude: ['private/', '*.pem'], include: ['open.pem'], mask: ['.env', 'conf/*.yml'] });
  for (const one of ['private/key', 'private/a/b', 'a/private/c', 'x.PEM', 'deep/x.pem'])
    expect(lackOf(one)).toBe('absent');
  for (const one of ['.env', 'a/.env', 'conf/a.yml']) expect(lackOf(one)).toBe('empty');
  for (const one of ['private', 'open.pem', 'conf/a.txt', 'code.c']) expect(lackOf(one)).toBeUndefined();
  expect(lackOf('private', true)).toBe('absent');
});

it('knows what could not be copied, with everything below it, and nothing of git itself', () => {
  const { lackOf } = lacking({}, ['run/socket', 'closed', '.git/fsmonitor--daemon.ipc']);
  for (const one of ['run/socket', 'closed', 'closed/a/b']) expect(lackOf(one)).toBe('absent');
  for (const one of ['run', 'run/other', 'closed-not', '.git/fsmonitor--daemon.ipc'])
    expect(lackOf(one)).toBeUndefined();
});

it('judges no path that a work tree cannot have', () => {
  const { lackOf } = lacking({ exclude: ['*'] }, ['a']);
  for (const one of ['', '/etc/passwd', '../a', 'a//b', './a', 'a/../b']) expect(lackOf(one)).toBeUndefined();
});

it('has the same key for the same paths, and none where nothing is lacking', () => {
  expect(lackingPaths(EVERYTHING, []).key).toBe('');
  expect(lackingPaths(EVERYTHING, ['.git/socket']).key).toBe('');
  expect(lacking({ include: ['a'] }).key).toBe('');
  expect(lacking({ exclude: ['a'] }, ['x', 'y']).key).toBe(lacking({ exclude: ['a'] }, ['y', 'x', 'x']).key);
  const keys = [{ exclude: ['a'] }, { mask: ['a'] }, { exclude: ['a'], include: ['b'] }].map((one) => lacking(one).key);
  expect(new Set([...keys, lacking({ exclude: ['a'] }, ['x']).key]).size).toBe(4);
});
