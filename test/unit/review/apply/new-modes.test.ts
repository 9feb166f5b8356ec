import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, lstatSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { HostState } from '../../../../src/review/apply/disk/host/host-entry.ts';
import { openHostWalker } from '../../../../src/review/apply/disk/host/host-path.ts';
import type { Step } from '../../../../src/review/apply/disk/steps/steps.ts';
import { withUserModes } from '../../../../src/review/apply/entries/new-modes.ts';
import { dir, file, layApply, link, type Nodes } from '../../../support/apply/lay.ts';
import { skipUnless } from '../../../support/requirement.ts';

const root = mkdtempSync(path.join(tmpdir(), 'run-claude-new-modes-'));
const project = path.join(root, 'project');
afterAll(() => rmSync(root, { recursive: true, force: true }));
beforeEach((context) => {
  skipUnless(process.platform === 'linux', 'needs Linux, where folders hand on setgid bits and access lists', context);
  rmSync(project, { recursive: true, force: true });
  mkdirSync(path.join(project, 'shared'), { recursive: true });
});

const at = (name: string): string => path.join(project, name);
const modeOf = (name: string): string => (lstatSync(at(name)).mode & 0o7777).toString(8);
const setAcl = (entries: string, name: string): void => void execFileSync('setfacl', ['-d', '-m', entries, at(name)]);
const aclOf = (name: string): string => execFileSync('getfacl', ['-cpE', at(name)], { encoding: 'utf8' });

/** The modes of new entries, in octal; a name with a slash at its end is a folder. */
function planned(modes: Readonly<Record<string, number>>, umask: number, sessionUmask = 0o022): Record<string, string> {
  const steps = Object.entries(modes).map(
    ([name, mode]): Step => ({
      path: name.replace(/\/$/, ''),
      post: { kind: name.endsWith('/') ? 'dir' : 'file', mode },
    }),
  );
  using walker = openHostWalker(project, undefined);
  const made = withUserModes(steps, { project, walker, sessionUmask, umask });
  return Object.fromEntries(made.map(({ path: one, post }) => [one, post?.mode.toString(8) ?? '']));
}

describe('a new entry', () => {
  const MADE = { file: 0o644, program: 0o755, 'folder/': 0o755, 'folder/in': 0o644 };
  it.each([
    [0o022, { file: '644', program: '755', folder: '755', 'folder/in': '644' }],
    [0o002, { file: '664', program: '775', folder: '775', 'folder/in': '664' }],
    [0o077, { file: '600', program: '700', folder: '700', 'folder/in': '600' }],
    [0o027, { file: '640', program: '750', folder: '750', 'folder/in': '640' }],
    [0, { file: '666', program: '777', folder: '777', 'folder/in': '666' }],
  ])('of a program without a wish of its own has the mode that umask %s gives', (umask, modes) => {
    expect(planned(MADE, umask)).toEqual(modes);
    // The same from a session that ran under another umask.
    const under002 = { file: 0o664, program: 0o775, 'folder/': 0o775, 'folder/in': 0o664 };
    expect(planned(under002, umask, 0o002)).toEqual(modes);
  });

  it('has no more than the session left it, where that took more away than its umask', () => {
    const made = { key: 0o600, readonly: 0o444, own: 0o700, 'closed/': 0o700, odd: 0o711 };
    expect(planned(made, 0o002)).toEqual({ key: '600', readonly: '444', own: '700', closed: '700', odd: '711' });
    expect(planned(made, 0o077)).toEqual({ key: '600', readonly: '400', own: '700', closed: '700', odd: '700' });
  });

  it('has the setgid bit where it is a folder in a folder that has it, over folders that are new', () => {
    chmodSync(at('shared'), 0o2775);
    const made = { 'shared/a/': 0o755, 'shared/a/b/': 0o755, 'shared/a/b/file': 0o644, 'other/': 0o755 };
    expect(planned(made, 0o022)).toEqual({
      'shared/a': '2755',
      'shared/a/b': '2755',
      'shared/a/b/file': '644',
      other: '755',
    });
  });

  it('never has a set-id bit of the session', () => {
    expect(planned({ file: 0o6755, 'folder/': 0o6755 }, 0o022)).toEqual({ file: '755', folder: '755' });
  });

  it('has what the default access list of its folder leaves, whatever the umask is', () => {
    setAcl('u::rwx,g::r-x,g:1:rwx,o::---', 'shared');
    const made = { 'shared/file': 0o644, 'shared/a/': 0o755, 'shared/a/run': 0o755, 'shared/key': 0o600, out: 0o644 };
    for (const umask of [0o022, 0o077]) {
      expect(planned(made, umask)).toMatchObject({
        'shared/file': '660',
        'shared/a': '770',
        'shared/a/run': '770',
        'shared/key': '600',
      });
    }
    setAcl('u::rwx,g::rwx,o::r-x', 'shared');
    execFileSync('setfacl', ['-x', 'd:g:1,d:m', at('shared')]);
    expect(planned(made, 0o077)).toMatchObject({ 'shared/file': '664', 'shared/a': '775', out: '600' });
  });

  it('is found below folders with odd names, and with many of them', () => {
    const names = [
      'line\nbreak',
      'back\\slash',
      'ünï',
      ' space',
      '-dash',
      ...Array.from({ length: 450 }, (_, n) => `n${n}`),
    ];
    for (const name of names) {
      mkdirSync(at(`shared/${name}`));
      if (!name.startsWith('n') || name === 'n449') setAcl('g::rwx,o::---', `shared/${name}`);
    }
    const made = Object.fromEntries(names.map((name) => [`shared/${name}/file`, 0o644]));
    const modes = planned(made, 0o022);
    for (const name of names)
      expect([name, modes[`shared/${name}/file`]]).toEqual([
        name,
        name.startsWith('n') && name !== 'n449' ? '644' : '660',
      ]);
  });

  it('takes one look at each folder, however many entries are in it and however deep they are', () => {
    const looks = (files: number, depth: number): number => {
      const folders = Array.from({ length: depth }, (_, at) => `shared${'/d'.repeat(at + 1)}`);
      const deepest = folders.at(-1) ?? '';
      const steps: Step[] = [
        ...folders.map((one): Step => ({ path: one, post: { kind: 'dir', mode: 0o755 } })),
        ...Array.from(
          { length: files },
          (_, at): Step => ({ path: `${deepest}/${at}`, post: { kind: 'file', mode: 0o644 } }),
        ),
      ];
      using walker = openHostWalker(project, undefined);
      const enter = vi.spyOn(walker, 'enter');
      withUserModes(steps, { project, walker, sessionUmask: 0o022, umask: 0o022 });
      return enter.mock.calls.length;
    };
    expect([looks(500, 50), looks(1000, 50), looks(500, 100)]).toEqual([2, 2, 2]);
  });

  it('in the place of a folder that becomes another thing inherits from the folder above', () => {
    chmodSync(at('shared'), 0o2775);
    const pre = { kind: 'symlink', mode: 0o777 } as HostState;
    const steps: Step[] = [
      { path: 'shared/x', pre, post: { kind: 'dir', mode: 0o755 } },
      { path: 'shared/x/y', post: { kind: 'dir', mode: 0o755 } },
    ];
    using walker = openHostWalker(project, undefined);
    const made = withUserModes(steps, { project, walker, sessionUmask: 0o022, umask: 0o022 });
    expect(made.map(({ post }) => post?.mode.toString(8))).toEqual(['2755', '2755']);
  });
});

/** A session's work in a folder that hands things on to what is made in it. */
const WORK: { readonly base: Nodes; readonly session: Nodes } = {
  base: { shared: dir, 'shared/old': file('old\n'), 'shared/link': link('old') },
  session: {
    shared: dir,
    'shared/old': file('new\n'),
    'shared/made': dir,
    'shared/made/deep': dir,
    'shared/made/deep/file': file('x\n'),
    'shared/run': file('#!/bin/sh\n', 0o755),
    'shared/key': file('secret\n', 0o600),
    'shared/link': file('no link\n'),
  },
};

/** How the kernel makes the same entries for the user's own tools. */
function makeByHand(where: string): void {
  mkdirSync(at(`${where}/made/deep`), { recursive: true });
  writeFileSync(at(`${where}/made/deep/file`), 'x\n');
  writeFileSync(at(`${where}/run`), '#!/bin/sh\n', { mode: 0o777 });
  writeFileSync(at(`${where}/key`), 'secret\n', { mode: 0o600 });
}
const MADE = ['made', 'made/deep', 'made/deep/file', 'run', 'key'];

describe('an apply', () => {
  it.each([
    ['a setgid folder', (name: string) => chmodSync(at(name), 0o2775)],
    ['a folder with a default access list', (name: string) => setAcl('u::rwx,g::r-x,g:1:rwx,o::---', name)],
    [
      'a setgid folder with a default access list',
      (name: string) => {
        chmodSync(at(name), 0o2750);
        setAcl('g::rwx,u:1:r-x,m::rwx', name);
      },
    ],
  ])('makes entries in %s as the user’s tools do, and undo removes them all', async (_, prepareFolder) => {
    const session = await layApply(project, path.join(root, 'state'), WORK);
    mkdirSync(at('by-hand'));
    for (const name of ['shared', 'by-hand']) {
      if (process.getuid?.() === 0) chownSync(at(name), 0, 1);
      prepareFolder(name);
    }
    const before = { now: session.now(), times: session.times() };
    makeByHand('by-hand');
    const said = await session.apply();
    expect(new Set(Object.values(said))).toEqual(new Set(['applied']));
    const facts = (name: string) => [name.replace(/^[^/]+/, ''), modeOf(name), statSync(at(name)).gid, aclOf(name)];
    for (const name of MADE) expect(facts(`shared/${name}`)).toEqual(facts(`by-hand/${name}`));
    // Nothing is left to apply, and nothing counts as edited since.
    expect(new Set(Object.values(await session.apply()))).toEqual(new Set(['same: the host has it already']));
    rmSync(at('by-hand'), { recursive: true });
    expect(new Set(Object.values(await session.undo()))).toEqual(new Set(['applied']));
    const { 'by-hand': __, ...rest } = before.now;
    expect(session.now()).toEqual(rest);
    for (const name of ['shared', 'shared/old']) expect(session.times()[name], name).toBe(before.times[name]);
  });

  it('keeps such a mode when the session goes on and changes the content alone', async () => {
    const session = await layApply(project, path.join(root, 'state'), WORK);
    setAcl('u::rwx,g::rwx,o::---', 'shared');
    await session.apply();
    expect(modeOf('shared/made/deep/file')).toBe('660');
    const said = await session.applyAgain({ ...WORK.session, 'shared/made/deep/file': file('y\n') });
    expect(said['shared/made/deep/file']).toBe('applied');
    expect(modeOf('shared/made/deep/file')).toBe('660');
  });
});
