import path from 'node:path';
import { expect, it } from 'vitest';
import { type CopiedPlaces, rewritePointer } from '../../../../src/core/git/pointers.ts';

const OWN: CopiedPlaces = { root: '/home/me/project', dotGit: undefined };
const LINKED: CopiedPlaces = {
  root: '/home/me/project',
  dotGit: [
    { source: '/home/me/main/.git/worktrees/x', without: ['commondir', 'gitdir'] },
    { source: '/home/me/main/.git', without: ['HEAD', 'worktrees', 'modules'] },
  ],
};
const CUT: CopiedPlaces = { root: '/home/me/project', dotGit: [{ source: '/home/me/.cache/cut/git', without: [] }] };

const rewrite = (entry: string, text: string, places: CopiedPlaces): string =>
  rewritePointer(entry, text, path.dirname(`${places.root}/${entry}`), places);

it.each<[string, string, string, string, CopiedPlaces]>([
  ['a worktree', '.worktrees/x/.git', '/home/me/project/.git/worktrees/x', '../../.git/worktrees/x', OWN],
  ['a submodule', 'lib/.git', '/home/me/project/.git/modules/lib', '../.git/modules/lib', OWN],
  ['of a repository in it', 'a/w/.git', '/home/me/project/a/.git/worktrees/w', '../.git/worktrees/w', OWN],
  [
    "a linked worktree's submodule",
    'lib/.git',
    '../../main/.git/worktrees/x/modules/lib',
    '../.git/modules/lib',
    LINKED,
  ],
  ['what the worktree is', 'sub/.git', '/home/me/main/.git/worktrees/x', '../.git', LINKED],
  [
    'a name that is not UTF-8',
    'w\udcff/.git',
    '/home/me/project/.git/worktrees/w\udcff',
    '../.git/worktrees/w\udcff',
    OWN,
  ],
])('points in the copy to the same place as on the host: %s', (_, entry, before, after, places) => {
  expect(rewrite(entry, `gitdir: ${before}\n`, places)).toBe(`gitdir: ${after}\n`);
  expect(rewrite(entry, `gitdir: ${before}`, places)).toBe(`gitdir: ${after}\n`);
});

it.each<[string, string, string, CopiedPlaces]>([
  ['relative already', 'lib/.git', 'gitdir: ./../.git/modules/lib\n', OWN],
  ['outside', 'lib/.git', 'gitdir: /home/me/.ssh/.git\n', OWN],
  ['outside, by ..', 'lib/.git', 'gitdir: /home/me/project/../.git/modules/lib\n', OWN],
  ['outside, relative', 'lib/.git', 'gitdir: ../../other/.git\n', OWN],
  ['a name that begins alike', 'lib/.git', 'gitdir: /home/me/project-2/.git/modules/lib\n', OWN],
  ['a repository of another name', 'main/.git', 'gitdir: /home/me/project/.bare/worktrees/main\n', OWN],
  ['another worktree of the same repository', 'y/.git', 'gitdir: /home/me/main/.git/worktrees/y\n', LINKED],
  ["the main worktree's submodule", 'lib/.git', 'gitdir: /home/me/main/.git/modules/lib\n', LINKED],
  ['what the copy has cut', 'w/.git', 'gitdir: /home/me/project/.git/worktrees/w\n', CUT],
  ['no pointer', 'lib/.git', '/home/me/project/.git/modules/lib\n', OWN],
  ['two lines', 'lib/.git', 'gitdir: /home/me/project/.git\nx\n', OWN],
  ['back, outside', '.git/worktrees/x/gitdir', '/home/me/side/.git\n', OWN],
  ['back, to no pointer', '.git/worktrees/x/gitdir', '/home/me/project/src\n', OWN],
  ['back, from a repository of another name', '.bare/worktrees/x/gitdir', '/home/me/project/x/.git\n', OWN],
])('is left unchanged: %s', (_, entry, text, places) => {
  expect(rewrite(entry, text, places)).toBe(text);
});

it.each(['/home/me/project/.worktrees/x/.git', '../../../.worktrees/x/.git'])('points back from %s', (text) => {
  expect(rewrite('.git/worktrees/x/gitdir', `${text}\n`, OWN)).toBe('/workspace/.worktrees/x/.git\n');
});
