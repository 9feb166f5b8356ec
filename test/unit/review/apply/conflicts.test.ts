import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { RelPath } from '../../../../src/core/text/path.ts';
import type { ConflictRule } from '../../../../src/core/types/change/conflict.ts';
import type { ChangeOutcome } from '../../../../src/core/types/session.ts';
import { SAME_LINES } from '../../../../src/review/apply/merge/merge-file.ts';
import { conflictHint } from '../../../../src/session/outcome/conflict-hint.ts';
import { dir, file, layApply, link, type Sides } from '../../../support/apply/lay.ts';
import { compileProgram } from '../../../support/compile.ts';
import { Pty } from '../../../support/pty.ts';

function place(): string {
  const root = mkdtempSync(path.join(tmpdir(), 'run-claude-conflict-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  mkdirSync(path.join(root, 'project'));
  return root;
}

const lay = (sides: Sides, root = place()) => layApply(path.join(root, 'project'), path.join(root, 'state'), sides);

describe('a folder that the host removed', () => {
  const sides: Sides = {
    base: { d: dir, 'd/a': file('a'), 'd/e': dir, 'd/e/x': file('x') },
    session: { d: dir, 'd/a': file('A'), 'd/e': dir, 'd/e/x': file('x'), 'd/e/new': file('new'), 'd/new': link('a') },
    host: { y: file('y') },
  };
  const removed = 'its folder does not exist on the host';

  it.each<[ConflictRule, Record<string, string>, object]>([
    [
      'keep',
      { 'd/a': 'conflict: deleted on the host', 'd/e/new': `conflict: ${removed}`, 'd/new': `conflict: ${removed}` },
      {},
    ],
    [
      'theirs',
      { d: 'applied', 'd/a': 'applied', 'd/e': 'applied', 'd/e/new': 'applied', 'd/new': 'applied' },
      { d: dir, 'd/a': file('A'), 'd/e': dir, 'd/e/new': file('new'), 'd/new': link('a') },
    ],
    [
      'file',
      {
        d: 'applied',
        'd/a': "conflict: deleted on the host; the session's version is d/a.session",
        'd/a.session': 'applied',
        'd/e': 'applied',
        'd/e/new': `conflict: ${removed}; the session's version is d/e/new.session`,
        'd/e/new.session': 'applied',
        'd/new': `conflict: ${removed}`,
      },
      { d: dir, 'd/a.session': file('A'), 'd/e': dir, 'd/e/new.session': file('new') },
    ],
  ])('by the rule %s; undo removes what was made', async (conflict, said, made) => {
    const one = await lay(sides);
    expect(await one.apply({ conflict })).toEqual(said);
    expect(one.now()).toEqual({ ...made, ...sides.host });
    if (conflict !== 'keep') await one.undo();
    expect(one.now()).toEqual(sides.host);
  });

  it('is not recreated where something else has its name', async () => {
    const host = { d: link('/etc') };
    const one = await lay({ ...sides, host });
    const said = await one.apply({ conflict: 'theirs' });
    expect(new Set(Object.values(said))).toEqual(new Set(['conflict: a folder on the way is a link on the host']));
    expect(one.now()).toEqual(host);
  });
});

it('changes inside a folder that is held back get its reason and verdict', async () => {
  const base = { l: link('x'), x: dir };
  const one = await lay({ base, session: { x: dir, l: dir, 'l/new': file('n'), n: dir, 'n/new': file('n') } });
  const held = (name: string) => ({ path: name as RelPath, verdict: 'suspect' as const, why: 'its kind changed' });
  const choice = {
    ...one.choice,
    chosen: one.choice.chosen.filter(({ change }) => change.path.includes('/')),
    left: [held('l'), held('n')],
  };
  expect(await one.apply({ choice })).toEqual({
    l: 'suspect: its kind changed',
    'l/new': 'suspect: its folder l is not applied (suspect)',
    n: 'suspect: its kind changed',
    'n/new': 'suspect: its folder n is not applied (suspect)',
  });
  expect(one.now()).toEqual(base);
});

it('mentions conflict markers that had to be longer than usual', async () => {
  const [plain, marked] = ['1\n2\n3\n', '1\n=========\n2\n3\n'];
  const three = (text: string, two: string) => text.replace('2', two);
  const one = await lay({
    base: { a: file(plain), b: file(marked) },
    session: { a: file(three(plain, 'S')), b: file(three(marked, 'S')) },
    host: { a: file(three(plain, 'H')), b: file(three(marked, 'H')) },
  });
  const longer =
    'with conflict markers of 10 characters, because the file has lines that look like shorter ones: edit it';
  expect(await one.apply({ conflict: 'markers' })).toEqual({
    a: 'applied: with conflict markers: edit it',
    b: `applied: ${longer}`,
  });
  expect(one.now()['b']).toMatchObject({ text: expect.stringContaining(`\n${'='.repeat(10)}\nS\n`) });
});

describe('on a terminal', () => {
  let program = '';
  beforeAll(async () => {
    program = await compileProgram(
      path.resolve(import.meta.dirname, '../../../support/terminal/ask-conflict-program.ts'),
    );
  });

  function open(sides: Sides, env: Record<string, string> = {}) {
    const root = place();
    writeFileSync(path.join(root, 'sides.json'), JSON.stringify(sides));
    const pty = new Pty([process.execPath, program, root], {
      cwd: root,
      env: { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8', PAGER: 'cat', ...env },
    });
    const result = () => JSON.parse(readFileSync(path.join(root, 'result.json'), 'utf8'));
    const pid = () => Number(readFileSync(path.join(root, 'pid'), 'utf8'));
    return { pty, result, pid, [Symbol.asyncDispose]: () => pty[Symbol.asyncDispose]() };
  }

  const edited = (name: string): Sides['base'] => ({ [name]: file('base\n') });
  const sidesOf = (text: string): Sides['base'] => ({ a: file(text), b: file(text), c: file(text) });

  it('asks about each conflict with the answers that it allows; "all" answers for the rest', async () => {
    await using session = open({
      base: { ...sidesOf('base\n'), d: dir, e: file('base\n'), f: file('base\n'), ...edited('g\u001b[31m') },
      session: {
        ...sidesOf('session\n'),
        d: dir,
        'd/new': file('new\n'),
        e: file('session\n'),
        f: file('session\n'),
        'g\u001b[31m': file('session\n'),
      },
      host: { ...sidesOf('host\n'), f: file('host\n'), 'g\u001b[31m': file('host\n') },
    });
    const { pty } = session;
    const ALL_WAYS = /Keep mine, take theirs, write markers or write a file next to it\?[\s\S]*?\/\?\]:/;
    let at = 0;
    const asked = async (before: RegExp, ways = ALL_WAYS): Promise<void> => {
      at = await pty.see(before, { from: at });
      at = await pty.see(ways, { from: at });
    };
    await asked(/Conflict in a: the same lines were changed on the host/);
    pty.send('?\r');
    await asked(/as in f all, an answer counts for all conflicts/);
    pty.send('d\r');
    await asked(/-host[\s\S]*\+session/);
    pty.send('t\r');
    await asked(/Conflict in b:/);
    pty.send('m\r');
    await asked(/Conflict in c:/);
    pty.send('f\r');
    await asked(
      /Conflict in e: deleted on the host/,
      /Keep mine, take theirs or write a file next to it\?[\s\S]*?\/\?\]:/,
    );
    pty.send('\r');
    await asked(/Conflict in f:/);
    pty.send('t all\r');
    expect(await pty.exited).toBe(0);
    expect(pty.output.slice(at)).not.toContain('Conflict in');
    const { said, now } = session.result();
    expect(said).toMatchObject({
      a: 'applied',
      b: 'applied: with conflict markers: edit it',
      c: "conflict: the same lines were changed on the host; the session's version is c.session",
      d: 'applied',
      'd/new': 'applied',
      e: 'conflict: deleted on the host',
      f: 'applied',
    });
    expect(now['c.session'].text).toBe('session\n');
    expect([now.a.text, now.c.text, now['d/new'].text, now.f.text, now.e]).toEqual([
      'session\n',
      'host\n',
      'new\n',
      'session\n',
      undefined,
    ]);
  });

  it('Ctrl-C keeps the host version of this conflict and of all that follow', async () => {
    const host = sidesOf('host\n');
    await using session = open({ base: sidesOf('base\n'), session: sidesOf('session\n'), host });
    await session.pty.see(/\[K\/t\/m\/f\/d\/\?\]:/);
    session.pty.send('\x03');
    expect(await session.pty.exited).toBe(0);
    expect(session.result().now).toEqual(host);
  });

  it('a signal ends an open pager and then the command; Ctrl-C in the pager reaches the pager', async () => {
    const long = (text: string): string => `${text}\n`.repeat(300);
    const three = { base: { a: file(long('base')) }, session: { a: file(long('s')) }, host: { a: file(long('h')) } };
    await using session = open(three, { PAGER: 'less' });
    const { pty } = session;
    let at = await pty.see(/\[K\/t\/m\/f\/d\/\?\]:/);
    pty.send('d\r');
    at = await pty.see(/-h/, { from: at });
    pty.send('\x03');
    // less discards keys that arrive together with the interrupt.
    await pty.press('G', /\+s/, { from: at });
    process.kill(session.pid(), 'SIGTERM');
    expect(await pty.exited).toBe(143);
    expect(session.result().now).toEqual({ a: file(long('h')) });
    expect(session.result().isCooked).toBe(true);
  });
});

it('never merges binary content by lines, nor offers markers for it, also where it has no NUL', async () => {
  const binary = (first: string) => file(`${first}\n${'\u0001\u0002x\u0010'.repeat(30)}\nlast\n`);
  const asked: ConflictRule[][] = [];
  const one = await lay({ base: { b: binary('a') }, session: { b: binary('b') }, host: { b: binary('c') } });
  const said = await one.apply({
    askConflict: async ({ rules }) => {
      asked.push([...rules]);
      return { rule: 'keep', forAll: false };
    },
  });
  expect(said).toEqual({ b: 'conflict: binary, changed on both sides' });
  expect(asked).toEqual([['keep', 'theirs', 'file']]);
});

describe('the advice after a conflict names only what would do something', () => {
  const hint = (...changes: Omit<ChangeOutcome, 'path' | 'verdict'>[]): string[] =>
    conflictHint(
      { at: '', changes: changes.map((one) => ({ ...one, path: 'b' as RelPath, verdict: 'conflict' })) },
      { kept: () => 'Yours was kept.', command: () => 'run-claude apply ID' },
    ).map((line) => /--conflict \w+|Close|kept\.$/.exec(line)?.[0] ?? '');

  it.each<[string, Omit<ChangeOutcome, 'path' | 'verdict'>[], string[]]>([
    ['lines', [{ why: SAME_LINES, ways: ['theirs', 'markers', 'file'] }], ['theirs', 'markers', 'file']],
    ['no text', [{ why: 'binary', ways: ['theirs', 'file'] }], ['theirs', 'file']],
    ['one of two', [{ ways: ['file'] }, { ways: ['theirs'] }], ['theirs', 'file']],
    ['nothing that can be chosen', [{ why: 'a folder on the way is a link on the host' }, { ways: [] }], []],
  ])('%s', (_, changes, ways) => {
    const lines = ways.map((way) => `--conflict ${way}`);
    expect(hint(...changes)).toEqual(ways.length === 0 ? ['kept.'] : ['', ...lines]);
  });

  it('a file next to it that is there is not offered again, and --conflict=file says why', async () => {
    const sides: Sides = { base: { f: file('a') }, session: { f: file('b') }, host: { f: file('c') } };
    const one = await lay(sides);
    const asked: ConflictRule[][] = [];
    const askConflict = async ({ rules }: { readonly rules: readonly ConflictRule[] }) => {
      asked.push([...rules]);
      return { rule: 'file' as const, forAll: false };
    };
    await one.apply({ askConflict });
    expect(await one.apply({ conflict: 'file' })).toEqual({
      f: `conflict: ${SAME_LINES}; f.session is there already`,
    });
    await one.apply({ askConflict: async (conflict) => ({ ...(await askConflict(conflict)), rule: 'keep' }) });
    expect(asked).toEqual([
      ['keep', 'theirs', 'markers', 'file'],
      ['keep', 'theirs', 'markers'],
    ]);
  });
});
