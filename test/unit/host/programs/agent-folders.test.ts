import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  AgentFolders,
  possibleProject,
  readAgentFolders,
  realFolderOf,
} from '../../../../src/host/programs/agent-folders.ts';

const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'run-claude-agent-folders-')));
afterAll(() => rmSync(root, { recursive: true }));
const at = (...parts: readonly string[]): string => path.join(root, ...parts);
for (const dir of ['project/bin', 'project-2/bin', 'outside/bin', 'home/work/inner'])
  mkdirSync(at(dir), { recursive: true });
writeFileSync(at('outside/bin/tool'), '');
writeFileSync(at('project/bin/tool'), '');
symlinkSync('../../project/bin/tool', at('outside/bin/link'));
symlinkSync(at('outside/bin'), at('project/out'));
symlinkSync(at('project/out'), at('outside/through'));
symlinkSync(at('loop'), at('loop'));
const folders = new AgentFolders();
mkdirSync(at('my project'));
folders.add([at('project'), at('my project'), at('missing')]);

describe('where a path leads', () => {
  it.each([
    ['a file outside', 'outside/bin/tool', at('outside/bin/tool')],
    ['a file of the project', 'project/bin/tool', 'inside'],
    ['a file of the project that does not exist yet', 'project/later/tool', 'inside'],
    ['a link into the project', 'outside/bin/link', 'inside'],
    ['a link out of the project, which the agent can change', 'project/out/tool', 'inside'],
    ['a path over a link of the project', 'outside/through/tool', 'inside'],
    ['a folder whose name begins alike', 'project-2/bin', at('project-2/bin')],
    ['a path up and down again', 'project-2/../outside/bin/./tool', at('outside/bin/tool')],
    ['a missing file', 'outside/none', undefined],
    ['a link to itself', 'loop', undefined],
  ])('%s', (_, named, expected) => {
    expect(folders.resolve(at(named))).toBe(expected);
  });
});

describe('whether a text leads inside', () => {
  it.each([
    ['a path', at('project/x')],
    ['a list', `/usr/lib:${at('project/lib')}`],
    ['words', `--require ${at('project/x.cjs')}`],
    ['an address', `unix://${at('project/engine.sock')}`],
    ['an option with its value', `-I${at('project/include')}`],
    ['quotes', `a="${at('project/x')}"`],
    ['a path with a blank', at('project/my files/x')],
    ['a path whose folder has a blank', at('my project/x')],
  ])('%s', (_, text) => {
    expect(folders.leadsInside(text)).toBe(true);
  });

  it.each(['', 'plain', '/usr/bin:/bin', 'https://example.org/project', at('outside')])('not %s', (text) => {
    expect(folders.leadsInside(text)).toBe(false);
  });
});

describe('a relative path', () => {
  const before = process.cwd();
  beforeAll(() => process.chdir(at('project')));
  afterAll(() => process.chdir(before));

  it.each(['./tools/ssh', '../project/x', 'bin/tool', '-o x=bin/tool'])('in the project leads inside: %s', (text) => {
    expect(folders.leadsInside(text)).toBe(true);
  });

  it.each(['../outside/bin/tool', 'America/New_York', 'text/html'])('elsewhere does not: %s', (text) => {
    expect(folders.leadsInside(text)).toBe(false);
  });
});

describe('a folder of PATH', () => {
  it('counts as one of an agent where a program that others start leads inside', () => {
    mkdirSync(at('stow'));
    symlinkSync(at('project/bin/tool'), at('stow/own-tool'));
    expect(folders.hasLinkInside(at('stow'))).toBe(false);
    const again = new AgentFolders();
    again.add([at('project')]);
    symlinkSync(at('project/bin/tool'), at('stow/gpg'));
    expect(again.hasLinkInside(at('stow'))).toBe(true);
    expect(again.hasLinkInside(at('none'))).toBe(false);
  });
});

it('knows a folder that appears later, and one whose time stamps change', () => {
  const later = new AgentFolders();
  later.add([at('later')]);
  expect(later.resolve(at('later/x'))).toBeUndefined();
  mkdirSync(at('later'));
  utimesSync(at('later'), 1, 1);
  expect(later.resolve(at('later/x'))).toBe('inside');
});

describe('the project that a command may be about', () => {
  it('is the top of the repository, otherwise the folder, and never the home directory', () => {
    const home = at('home');
    expect(possibleProject(at('home/work/inner'), home)).toBe(at('home/work/inner'));
    mkdirSync(at('home/work/.git'));
    expect(possibleProject(at('home/work/inner'), home)).toBe(at('home/work'));
    mkdirSync(at('home/.git'));
    mkdirSync(at('home/plain'));
    expect(possibleProject(at('home/plain'), home)).toBe(at('home/plain'));
    expect(possibleProject(home, home)).toBeUndefined();
    expect(possibleProject('/', home)).toBeUndefined();
  });

  it('has a real path', () => {
    expect(realFolderOf(at('outside/through'))).toBe(at('outside/bin'));
    expect(realFolderOf(at('outside/bin/tool'))).toBeUndefined();
  });
});

describe('the folders of earlier bind sessions', () => {
  it('are the absolute lines of a file', () => {
    expect(readAgentFolders(at('none'))).toEqual([]);
    mkdirSync(at('state'));
    writeFileSync(at('state/agent-folders'), '/a\nrelative\n\n/b c\n');
    expect(readAgentFolders(at('state'))).toEqual(['/a', '/b c']);
  });
});
