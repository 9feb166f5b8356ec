import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  AgentFolders,
  possibleProject,
  readAgentFolders,
  realFolderOf,
} from '../../../../../src/core/host/programs/agent-folders.ts';
import { folderIdentity } from '../../../../../src/core/host/programs/folder-identity.ts';

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

it('names the links of a folder that lead inside', () => {
  mkdirSync(at('stow'));
  for (const name of ['gpg', 'own-tool']) symlinkSync(at('project/bin/tool'), at('stow', name));
  symlinkSync(at('outside/bin/tool'), at('stow/free'));
  expect(folders.linksInside(at('stow')).toSorted()).toEqual(['gpg', 'own-tool']);
  expect(folders.linksInside(at('none'))).toEqual([]);
});

describe('a folder that was renamed', () => {
  mkdirSync(at('before/bin'), { recursive: true });
  const identity = folderIdentity(at('before')) ?? '';

  it('is known by what stays of it', () => {
    const moved = new AgentFolders();
    moved.add([at('before')], [identity]);
    expect(moved.resolve(at('before/bin'))).toBe('inside');
    renameSync(at('before'), at('after'));
    expect(moved.resolve(at('after/bin'))).toBe('inside');
    expect(moved.leadsInside(`LIB=${at('after/lib')}`)).toBe(true);
    // Another folder at the earlier path is not the user's choice: the path counts too.
    mkdirSync(at('before'));
    expect(moved.resolve(at('before/bin'))).toBe('inside');
  });

  it('is not a later folder with its inode', () => {
    const reused = new AgentFolders();
    reused.add([], [identity.replace(/\d+$/, '1')]);
    expect(reused.resolve(at('after/bin'))).toBe(at('after/bin'));
    expect(folderIdentity(at('none'))).toBeUndefined();
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
  it('are the absolute lines of a file, and their identities', () => {
    expect(readAgentFolders(at('none'))).toEqual({ paths: [], identities: [] });
    mkdirSync(at('state'));
    writeFileSync(at('state/agent-folders'), '/a\nrelative\n\n/b c\nidentity 1:2:3\n');
    expect(readAgentFolders(at('state'))).toEqual({ paths: ['/a', '/b c'], identities: ['1:2:3'] });
  });
});
