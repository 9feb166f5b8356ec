import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { takeLock } from '../../../../src/core/store/lock.ts';
import type { RelPath } from '../../../../src/core/text/path.ts';
import type { Change, Entry } from '../../../../src/core/types/entry.ts';
import type { ApplyRequest } from '../../../../src/review/apply/apply-request.ts';
import { decide } from '../../../../src/review/apply/decide.ts';
import { openHost } from '../../../../src/review/apply/disk/host/host-entry.ts';
import { directoryIdentity, openHostWalker } from '../../../../src/review/apply/disk/host/host-path.ts';
import { createJournal, readJournals } from '../../../../src/review/apply/disk/journal/journal.ts';
import type { JournalRecord } from '../../../../src/review/apply/disk/journal/journal-format.ts';
import { performStep } from '../../../../src/review/apply/disk/steps/perform-step.ts';
import { orderSteps, type Step } from '../../../../src/review/apply/disk/steps/steps.ts';
import { projectLockFile } from '../../../../src/review/apply/lock-file.ts';
import { mergeText } from '../../../../src/review/apply/merge/merge-text.ts';
import { layScene } from '../../../support/apply/crash-scene.ts';
import { dir, file, layApply, link, type Sides } from '../../../support/apply/lay.ts';
import { compileProgram } from '../../../support/compile.ts';
import { skipUnless } from '../../../support/requirement.ts';

// Each of these tests fails when one particular guard of apply is removed: each was tried.

const root = mkdtempSync(path.join(tmpdir(), 'run-claude-guards-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let count = 0;
const lay = (sides: Sides) => {
  count += 1;
  return layApply(path.join(root, `p${count}`, 'project'), path.join(root, `p${count}`, 's'), sides);
};
/** Runs an action once, after the given number of steps. */
const atStep = (steps: number, what: () => void): Pick<ApplyRequest, 'tell'> => ({
  tell: (event) => {
    if (event.kind === 'progress' && event.done === steps) what();
  },
});

describe('a target that is swapped after the last check', () => {
  const state = {
    kind: 'file',
    mode: 0o644,
    size: 1,
    mtimeNs: '0',
    uid: 0,
    gid: 0,
    nlink: 1,
    fingerprint: '',
  } as const;
  const post = { kind: 'file', mode: 0o777 } as const;
  it.each<[string, string, Partial<Step> & Pick<Step, 'post'>, Buffer | undefined]>([
    ['a mode', 'file', { pre: state, post }, undefined],
    ['content in place', 'file', { pre: state, post, inPlace: true }, Buffer.from('evil')],
    ['a folder’s mode', 'folder', { pre: { ...state, kind: 'dir' }, post: { kind: 'dir', mode: 0o777 } }, undefined],
    ['our own name next to it', 'temp', { pre: state, post }, Buffer.from('evil')],
  ])('%s does not follow a link', async (_, kind, step, content) => {
    const { project } = await lay({ base: {}, session: {} });
    const outside = `${project}.outside`;
    if (kind === 'folder') mkdirSync(outside, { mode: 0o700 });
    else writeFileSync(outside, 'mine', { mode: 0o600 });
    if (kind === 'temp') writeFileSync(path.join(project, 'f'), 'old');
    symlinkSync(outside, path.join(project, kind === 'temp' ? '.rc-temp' : 'f'));
    using walker = openHostWalker(project, undefined);
    const perform = () =>
      performStep({ path: 'f', ...step }, { walker, temp: '.rc-temp', content: content && [content], cleared: false });
    expect(perform).toThrow(/ELOOP|ENOTDIR|EEXIST/);
    expect(statSync(outside).mode & 0o077).toBe(0);
    if (kind !== 'folder') expect(readFileSync(outside, 'utf8')).toBe('mine');
  });

  it('a read does not follow a link', async () => {
    const { project } = await lay({ base: {}, session: {} });
    symlinkSync('/etc/passwd', path.join(project, 'f'));
    using walker = openHostWalker(project, undefined);
    expect(() => openHost(walker, 'f')).toThrow(/ELOOP/);
  });

  it('the portable walker notices that the project was swapped', async () => {
    const { project } = await lay({ base: {}, session: {} });
    using walker = openHostWalker(project, undefined, 'chdir');
    renameSync(project, `${project}.old`);
    mkdirSync(project);
    expect(() => walker.enter('')).toThrow(/replaced while it was in use/);
  });
});

describe('the host changes during an apply', () => {
  const sides = {
    base: { a: file('a1'), b: file('b1'), c: file('c1') },
    session: { a: file('a2'), b: file('b2'), c: file('c2') },
  };

  it('an edit of the same length is noticed, kept, and left alone by undo', async () => {
    const one = await lay(sides);
    const edit = () => {
      writeFileSync(path.join(one.project, 'b'), 'XX');
    };
    expect(await one.apply(atStep(1, edit))).toEqual({
      a: 'applied',
      b: 'conflict: changed on the host while applying',
      c: 'applied',
    });
    expect(one.now()).toEqual({ a: file('a2'), b: file('XX'), c: file('c2') });
    expect(await one.undo()).toEqual({ a: 'applied', c: 'applied' });
    expect(one.now()).toEqual({ ...sides.base, b: file('XX') });
  });

  it.each([
    ['a link', { d: link('/etc') }],
    ['a file', { d: file('f') }],
  ])('a file that is added to a folder which %s replaces keeps the whole folder', async (_, replacing) => {
    const base = { a: file('a1'), d: dir, 'd/e': dir, 'd/e/f': file('f'), 'd/x': file('x') };
    const one = await lay({ base, session: { a: file('a2'), ...replacing } });
    const add = () => writeFileSync(path.join(one.project, 'd/e/mine'), 'mine');
    const why = 'conflict: the folder has files on the host that would be lost';
    expect(await one.apply(atStep(0, add))).toEqual({
      a: 'applied',
      d: why,
      'd/e': why,
      'd/e/f': why,
      'd/x': why,
    });
    expect(one.now()).toEqual({ ...base, a: file('a2'), 'd/e/mine': file('mine') });
    await one.undo();
    expect(one.now()).toEqual({ ...base, 'd/e/mine': file('mine') });
  });

  it('an edit made while the user views a merge is kept', async () => {
    const text = 'a\nb\nc\nd\ne\n';
    const one = await lay({
      base: { f: file(text) },
      session: { f: file(`${text}z\n`) },
      host: { f: file(`x\n${text}`) },
    });
    const said = await one.apply({
      acceptMerge: async () => {
        writeFileSync(path.join(one.project, 'f'), 'quite another\n');
        return true;
      },
    });
    expect([said, one.now()]).toEqual([
      { f: 'failed: changed on the host while applying' },
      { f: file('quite another\n') },
    ]);
  });

  it('an interruption leaves the remaining changes, and those made can be undone', async () => {
    const one = await lay(sides);
    const stop = new AbortController();
    expect(await one.apply({ ...atStep(1, () => stop.abort()), signal: stop.signal })).toEqual({
      a: 'applied',
      b: 'skipped: interrupted',
      c: 'skipped: interrupted',
    });
    expect(await one.undo()).toEqual({ a: 'applied' });
    expect(one.now()).toEqual(sides.base);
  });

  it('an interrupted undo is continued by the next undo', async () => {
    const one = await lay(sides);
    await one.apply();
    const stop = new AbortController();
    const skipped = 'skipped: interrupted';
    const first = await one.undo({ ...atStep(1, () => stop.abort()), signal: stop.signal });
    expect(Object.values(first).sort()).toEqual(['applied', skipped, skipped]);
    expect(Object.values(await one.undo())).toEqual(['applied', 'applied']);
    expect(one.now()).toEqual(sides.base);
    expect(await one.undo()).toEqual({ thrown: expect.stringContaining('no apply that could be undone') });
  });

  it('undo keeps the time of a folder that the user changed since', async () => {
    const one = await lay({
      base: { d: dir, 'd/a': file('a') },
      session: { d: dir, 'd/a': file('a'), 'd/b': file('b') },
    });
    await one.apply();
    const folder = path.join(one.project, 'd');
    writeFileSync(path.join(folder, 'mine'), 'mine');
    await one.undo();
    expect(lstatSync(folder).mtimeMs).toBeGreaterThan(Date.now() - 3_600_000);
    const other = await lay({
      base: { d: dir, 'd/a': file('a') },
      session: { d: dir, 'd/a': file('a'), 'd/b': file('b') },
    });
    await other.apply();
    await other.undo();
    expect(lstatSync(path.join(other.project, 'd')).mtimeMs).toBeLessThan(1.5e12);
  });
});

describe('what an apply never changes', () => {
  it('the content and mode of a file with a hard link outside the project', async () => {
    const one = await lay({
      base: { f: file('f'), g: file('g') },
      session: { f: file('f', 0o755), g: file('G', 0o755) },
    });
    for (const name of ['f', 'g']) linkSync(path.join(one.project, name), `${one.project}.${name}`);
    expect(await one.apply()).toEqual({ f: 'applied', g: 'applied' });
    expect(one.now()).toEqual({ f: file('f', 0o755), g: file('G', 0o755) });
    for (const name of ['f', 'g']) expect(statSync(`${one.project}.${name}`).mode & 0o777).toBe(0o644);
    await one.undo();
    expect(one.now()).toEqual({ f: file('f'), g: file('g') });
  });

  it('entries marked as a problem or as part of .git, chosen or not', async () => {
    const one = await lay({ base: {}, session: { a: file('a'), b: file('b'), c: file('c') } });
    const [a, b, c] = one.changes.map((change) => ({ change }));
    const chosen = [
      { change: { ...(a?.change as Change), problem: 'unreadable' } },
      { change: { ...(b?.change as Change), inGit: true } },
      c,
    ] as ApplyRequest['choice']['chosen'];
    const said = await one.apply({ choice: { ...one.choice, chosen } });
    expect([said, Object.keys(one.now())]).toEqual([
      { a: 'blocked: unreadable', b: 'blocked: never written: it is in a .git', c: 'applied' },
      ['c'],
    ]);
  });

  it('a folder or a special file in the way, also by the rule "theirs"', async () => {
    const one = await lay({
      base: { f: file('f'), g: file('g') },
      session: { f: file('F'), g: file('G') },
      host: { g: dir, 'g/mine': file('m') },
    });
    execFileSync('mkfifo', [path.join(one.project, 'f')]);
    const said = await one.apply({ conflict: 'theirs' });
    expect(said).toMatchObject({ f: expect.stringMatching(/^conflict/), g: expect.stringMatching(/^conflict/) });
    expect([lstatSync(path.join(one.project, 'f')).isFIFO(), existsSync(path.join(one.project, 'g/mine'))]).toEqual([
      true,
      true,
    ]);
  });

  it('recovery after a crash refuses a project that another directory has replaced', async () => {
    const one = await lay({ base: { f: file('f') }, session: { f: file('F') } });
    journal(one, [{ r: 'ready', steps: 1 }]);
    renameSync(one.project, `${one.project}.old`);
    mkdirSync(one.project);
    writeFileSync(path.join(one.project, 'f'), 'f');
    expect(await one.recover()).toEqual({ thrown: expect.stringContaining('is not the directory') });
    expect(one.now()).toEqual({ f: file('f') });
  });
});

/** Writes a journal of the scene's only change, as a killed process leaves it. */
function journal(one: Awaited<ReturnType<typeof lay>>, rest: readonly JournalRecord[], version = 1): void {
  const [change] = one.changes;
  const { project, sessionDir } = one;
  const head = {
    version,
    kind: 'apply',
    project,
    identity: directoryIdentity(project),
    token: '0123456789ab',
    at: 'then',
  };
  const of = (entry: Entry | undefined) => ({ ...entry, uid: 0, gid: 0, nlink: 1, fingerprint: 'x' });
  const step = { path: change?.path, pre: of(change?.before), post: change?.after } as unknown as Step;
  using made = createJournal(sessionDir);
  made.append([{ r: 'head', head: head as never, folders: [] }, { r: 'step', step }, ...rest], true);
}

describe('an unfinished journal', () => {
  const sides = { base: { f: file('old') }, session: { f: file('new') } };

  it('is finished by the next apply, before anything else', async () => {
    const one = await lay(sides);
    journal(one, [{ r: 'ready', steps: 1 }]);
    expect(await one.apply()).toEqual({ f: 'same: the host has it already' });
    expect(readJournals(one.sessionDir).every(({ end }) => end !== undefined)).toBe(true);
  });

  it('is rolled back without touching what the user has written since', async () => {
    const one = await lay({ ...sides, host: { f: file('mine') } });
    journal(one, [
      { r: 'ready', steps: 1 },
      { r: 'done', step: 0 },
      { r: 'rollback', why: 'no space' },
    ]);
    expect(await one.recover()).toEqual({
      f: 'failed: no space; could not be undone: changed on the host since',
    });
    expect(one.now()).toEqual({ f: file('mine') });
  });

  it('of a newer version is left alone', async () => {
    const one = await lay(sides);
    journal(one, [{ r: 'ready', steps: 1 }], 2);
    expect(await one.recover()).toEqual({ thrown: expect.stringContaining('newer release of run-claude') });
    expect(one.now()).toEqual(sides.base);
  });

  it('is left alone while another process holds the lock', async () => {
    const one = await lay(sides);
    journal(one, [{ r: 'ready', steps: 1 }]);
    const release = await takeLock(projectLockFile(one.sessionDir, one.project), { what: 'a test' });
    expect(await one.recover()).toEqual({ thrown: expect.stringContaining('is held by') });
    release();
    expect(one.now()).toEqual(sides.base);
    await one.recover();
    expect(one.now()).toEqual({ f: file('new') });
  });
});

describe('owners, modes and attributes', () => {
  it('stay those of the host: the owner, and a mode together with an extended attribute', async () => {
    const one = await lay({
      base: { f: file('long content'), g: file('g') },
      session: { f: file('short', 0o755), g: file('G', 0o755) },
    });
    const at = (name: string): string => path.join(one.project, name);
    linkSync(at('f'), at('twin'));
    // Only root can change the owner of a file.
    const owner = process.getuid?.() === 0 ? 1234 : statSync(at('g')).uid;
    chownSync(at('g'), owner, -1);
    execFileSync('setfattr', ['-n', 'user.note', '-v', 'mine', at('g')]);
    await one.apply();
    expect(one.now()).toEqual({ f: file('short', 0o755), g: file('G', 0o755), twin: file('short', 0o755) });
    expect(statSync(at('g')).uid).toBe(owner);
  });

  it('a new file gets a mode that the umask allows', async () => {
    const one = await lay({ base: {}, session: { f: file('f', 0o664), d: dir } });
    const before = process.umask(0o077);
    try {
      await one.apply();
    } finally {
      process.umask(before);
    }
    expect(one.now()).toEqual({ f: file('f', 0o600), d: { kind: 'dir', mode: 0o700 } });
  });

  const entry = (mode: number, text = 'a', kind: Entry['kind'] = 'file'): Entry => ({
    kind,
    mode,
    size: 1,
    mtimeNs: '0',
    digest: text,
  });
  it.each<[string, Entry | undefined, Entry, Entry | undefined, boolean, unknown]>([
    ['set-id bits of the session', undefined, entry(0o6755), undefined, false, { kind: 'take', mode: 0o755 }],
    ['its own set-id bits, in undo', undefined, entry(0o4755), undefined, true, { kind: 'take', mode: 0o4755 }],
    [
      'the session’s bytes in a set-id file',
      entry(0o4755),
      entry(0o755, 'b'),
      entry(0o4755),
      false,
      { kind: 'take', mode: 0o755 },
    ],
    ['such a file merged', entry(0o4755), entry(0o755, 'b'), entry(0o4755, 'c'), false, { kind: 'merge', mode: 0o755 }],
    ['a mode alone, of such a file', entry(0o4750), entry(0o755), entry(0o4750), false, { kind: 'mode', mode: 0o4755 }],
    [
      'a FIFO of the session’s',
      undefined,
      entry(0o644, 'a', 'fifo'),
      undefined,
      false,
      expect.objectContaining({ kind: 'conflict' }),
    ],
    [
      'a device of the session’s',
      entry(0o644),
      entry(0o644, 'a', 'char'),
      entry(0o644),
      false,
      expect.objectContaining({ kind: 'conflict' }),
    ],
    [
      'a socket of the host’s',
      entry(0o644),
      entry(0o644, 'b'),
      entry(0o644, 'a', 'socket'),
      false,
      expect.objectContaining({ kind: 'conflict' }),
    ],
  ])('%s', (_, base, session, host, trusted, wanted) => {
    expect(decide({ base, session, host, trusted })).toEqual(wanted);
  });

  it('executables are written last', () => {
    const step = (name: string, late = false): Step => ({ path: name, post: { kind: 'file', mode: 0o644 }, late });
    expect(orderSteps([step('Makefile', true), step('z'), step('a')]).map((one) => one.path)).toEqual([
      'a',
      'z',
      'Makefile',
    ]);
  });
});

describe('new bytes that become executable because of the host’s mode', () => {
  const audit: ApplyRequest['audit'] = (change) =>
    ((change.after?.mode ?? 0) & 0o111) === 0
      ? []
      : [{ rule: 'r', severity: 'suspect', path: change.path, title: 't', why: 'it runs' }];
  it.each([
    ['taken', 'a\n', 'b\n', 'a\n', 'the file, which can be run here: it runs'],
    ['merged', 'a\nb\nc\nd\n', 'a\nb\nc\nD\n', 'A\nb\nc\nd\n', 'the merged file: it runs'],
  ])('are audited as an executable: %s', async (_, base, session, host, why) => {
    const one = await lay({ base: { f: file(base) }, session: { f: file(session) }, host: { f: file(host, 0o755) } });
    expect(await one.apply({ audit })).toEqual({ f: `suspect: ${why}` });
    const plain = await lay({ base: { f: file(base) }, session: { f: file(session) }, host: { f: file(host) } });
    expect(await plain.apply({ audit })).toEqual({ f: 'applied' });
  });

  it('are audited as an executable: chosen by the rule "theirs"', async () => {
    const sides = (mode: number): Sides => ({
      base: { f: file('a\n') },
      session: { f: file('b\n') },
      host: { f: file('c\n', mode) },
    });
    const one = await lay(sides(0o755));
    const held = { f: 'suspect: the file, which can be run here: it runs' };
    expect([await one.apply({ audit, conflict: 'theirs' }), one.now()]).toEqual([held, { f: file('c\n', 0o755) }]);
    const plain = await lay(sides(0o644));
    expect(await plain.apply({ audit, conflict: 'theirs' })).toEqual({ f: 'applied' });
  });

  it('are judged next to the file of the host that they replace: an engine can say that they began with another', async () => {
    const sides: Sides = { base: { f: file('b\n') }, session: { f: file('b\nx\n') }, host: { f: file('host\n') } };
    const beside: ApplyRequest['audit'] = async (change, contents) =>
      contents.get(change.before?.digest ?? '')?.toString() === 'host\n'
        ? [{ rule: 'r', severity: 'suspect', path: change.path, title: 't', why: 'it runs' }]
        : [];
    const one = await lay(sides);
    const held = { f: "suspect: the file, next to the host's: it runs" };
    expect([await one.apply({ audit: beside, conflict: 'theirs' }), one.now()]).toEqual([held, sides.host]);
    const chosen = one.changes.map((change) => ({ change, suspect: true }));
    const named = { ...one.choice, chosen };
    expect(await one.apply({ audit: beside, conflict: 'theirs', choice: named })).toEqual({ f: 'applied' });
  });

  it('are written last if they are suspect and were chosen', async () => {
    const one = await lay({ base: {}, session: { Makefile: file('m'), z: file('z') } });
    const chosen = one.changes.map((change) => ({ change, ...(change.path === 'Makefile' ? { suspect: true } : {}) }));
    await one.apply({ choice: { ...one.choice, chosen } });
    expect(readJournals(one.sessionDir)[0]?.steps.map((step) => step.path)).toEqual(['z', 'Makefile']);
  });
});

describe('the copy of the session’s version next to a conflict', () => {
  it('is never executable, and never gets a name that exists', async () => {
    const long = 'n'.repeat(250);
    const names = ['f', 'g', long, 'out/x'];
    const all = (text: string, mode = 0o644) => Object.fromEntries(names.map((name) => [name, file(text, mode)]));
    const one = await lay({
      base: { out: dir, ...all('base') },
      session: { out: dir, ...all('session', 0o755) },
      host: { f: file('host', 0o755), g: file('host', 0o755), [long]: file('host', 0o755), 'g.session': file('mine') },
    });
    const elsewhere = `${one.project}.elsewhere`;
    mkdirSync(elsewhere);
    writeFileSync(path.join(elsewhere, 'x'), 'theirs');
    symlinkSync(elsewhere, path.join(one.project, 'out'));
    const said = await one.apply({ conflict: 'file' });
    expect(said).toEqual({
      f: expect.stringContaining("the session's version is f.session"),
      'f.session': 'applied',
      g: expect.stringContaining('g.session is there already'),
      [long]: expect.stringContaining('nothing written next to it: the name or path is too long'),
      'out/x': expect.stringMatching(/a folder on the way is .*; nothing written next to it/),
    });
    expect(one.now()).toMatchObject({ 'f.session': file('session'), 'g.session': file('mine'), out: link(elsewhere) });
    expect(existsSync(path.join(elsewhere, 'x.session'))).toBe(false);
  });

  it('is judged under its own name', async () => {
    const one = await lay({
      base: { f: file('base'), g: file('base') },
      session: { f: file('session'), g: file('session') },
      host: { f: file('host'), g: file('host') },
    });
    const judged: unknown[] = [];
    const audit: ApplyRequest['audit'] = ({ path: name, kind, before }, contents) => {
      judged.push({ name, kind, before, text: [...contents.values()].map(String) });
      return name === 'g.session' ? [{ rule: 'r', severity: 'suspect', path: name, title: 't', why: 'why' }] : [];
    };
    expect(await one.apply({ conflict: 'file', audit })).toEqual({
      f: expect.stringContaining("the session's version is f.session"),
      'f.session': 'applied',
      g: expect.stringContaining('nothing written next to it: why'),
    });
    expect(judged).toEqual(
      ['f', 'g'].map((name) => ({ name: `${name}.session`, kind: 'created', before: undefined, text: ['session'] })),
    );
    const chosen = one.changes.map((change) => ({ change, suspect: true }));
    const named = await one.apply({ conflict: 'file', audit, choice: { ...one.choice, chosen } });
    expect(named['g.session']).toBe('applied');
  });
});

describe('merging', () => {
  it('is fast for thousands of identical lines, such as closing brackets', () => {
    const alike = (first: string, last: string, count: number): Buffer =>
      Buffer.from(`${first}\n${'},\n'.repeat(count)}${last}\n`);
    const start = process.cpuUsage();
    const merged = mergeText(alike('a', 'b', 2000), alike('A', 'b', 2000), alike('a', 'B', 2000));
    expect(merged).toEqual({ kind: 'clean', content: alike('A', 'B', 2000) });
    expect(mergeText(alike('a', 'b', 2000), alike('A', 'b', 1999), alike('x', 'B', 15_000)).kind).toBe('conflict');
    const { user, system } = process.cpuUsage(start);
    expect((user + system) / 1_000_000).toBeLessThan(8);
  });

  it('leaves binary and very large files to the user, even where their lines would merge', () => {
    const lines = (n: number, text: string) => Array.from({ length: n }, (_, i) => `${text}${i}\n`).join('');
    const binary = (a: string, b: string) => Buffer.from(`${a}\n1\n2\n3\n\0\n4\n5\n6\n${b}\n`);
    expect(mergeText(binary('a', 'b'), binary('A', 'b'), binary('a', 'B')).kind).toBe('impossible');
    const large = (a: string, b: string) => Buffer.from(`${a}\n${lines(25_000, 'same ')}${b}\n`);
    const merged = mergeText(large('a', 'b'), large('A', 'b'), large('a', 'B'));
    expect(merged.kind).toBe('impossible');
  });
});

it('a step that failed before a crash is not repeated by the recovery', async () => {
  const one = await lay({ base: { f: file('old') }, session: { f: file('new') } });
  const outcome = { path: 'f' as RelPath, verdict: 'failed', why: 'permission denied' } as const;
  journal(one, [
    { r: 'ready', steps: 1 },
    { r: 'failed', step: 0, outcome },
  ]);
  expect(await one.recover()).toEqual({ f: 'failed: permission denied' });
  expect(one.now()).toEqual({ f: file('old') });
});

it('a folder that cannot be read prevents only the count of names', async () => {
  const one = await lay({ base: { f: file('f'), g: file('g') }, session: { f: file('F'), g: file('G') } });
  linkSync(path.join(one.project, 'f'), path.join(one.project, 'twin'));
  mkdirSync(path.join(one.project, 'closed'));
  chmodSync(path.join(one.project, 'closed'), 0);
  utimesSync(path.join(one.project, 'closed'), 1, 1);
  // Root can read it anyway.
  const asRoot = process.getuid?.() === 0;
  if (asRoot) {
    chmodSync(root, 0o711);
    execFileSync('chown', ['-R', '1234', path.dirname(one.project)]);
    process.seteuid?.(1234);
  }
  try {
    expect(await one.apply()).toMatchObject({ f: 'applied', g: 'applied' });
  } finally {
    if (asRoot) process.seteuid?.(0);
  }
});

it('without root, a file whose owner or group cannot be set is written in place', async (context) => {
  skipUnless(process.getuid?.() === 0, 'needs root, which alone can create files of another user', context);
  const scene = await layScene(root, 'owners', false);
  const program = path.join(root, 'program.mjs');
  copyFileSync(
    await compileProgram(path.resolve(import.meta.dirname, '../../../support/apply/crash-program.ts')),
    program,
  );
  chmodSync(root, 0o711);
  const [theirs, group] = ['plain', 'mode'].map((name) => path.join(scene.project, name)) as [string, string];
  chmodSync(theirs, 0o666);
  execFileSync('chown', ['-R', '1234:1234', scene.folder]);
  chownSync(theirs, 0, 0);
  chownSync(group, 1234, 0);
  const before = [theirs, group].map((name) => lstatSync(name).ino);
  const outcome = path.join(scene.folder, 'outcome');
  execFileSync(process.execPath, [program, scene.request, 'apply', outcome], { uid: 1234, gid: 1234 });
  const { changes } = JSON.parse(readFileSync(outcome, 'utf8')) as { changes: { path: string; verdict: string }[] };
  const verdicts = Object.fromEntries(changes.map((one) => [one.path, one.verdict]));
  // It gets the session's content. Its mode cannot be changed by this user.
  expect(readFileSync(theirs, 'utf8')).toBe('PLAIN\n');
  // Nor its time: only its owner gives a file another time than now.
  expect([verdicts['plain'], verdicts['mode']]).toEqual(['applied', 'applied']);
  expect([theirs, group].map((name) => lstatSync(name).ino)).toEqual(before);
  expect([lstatSync(theirs).uid, lstatSync(group).gid]).toEqual([0, 0]);
});
