import { describe, expect, it } from 'vitest';
import { IgnoredPaths, type RepositoryRules } from '../../../../src/core/git/ignored-paths.ts';

/** A project whose ignore files, repositories and indexes are given by directory. */
function projectOf({
  ignoreFiles = {},
  repositories = {},
  tracked = {},
}: {
  readonly ignoreFiles?: Readonly<Record<string, string>>;
  readonly repositories?: Readonly<Record<string, RepositoryRules>>;
  readonly tracked?: Readonly<Record<string, readonly string[]>>;
}) {
  const asked: string[] = [];
  const paths = new IgnoredPaths({
    ignoreFile: (dir) => {
      asked.push(dir);
      return ignoreFiles[dir];
    },
    repository: (dir) => repositories[dir],
    tracked: (top) => tracked[top] && new Set(tracked[top]),
  });
  return { paths, asked };
}

describe('what git ignores', () => {
  it('the deepest file has the last word, and nothing comes back below an ignored directory', () => {
    const { paths } = projectOf({ ignoreFiles: { '': '*.log\nout/\n', a: '!keep.log\n', out: '!b.txt\n' } });
    expect(paths.matches('x.log', false)).toBe(true);
    expect(paths.matches('a/keep.log', false)).toBe(false);
    expect(paths.matches('a/other.log', false)).toBe(true);
    expect(paths.matches('out', false)).toBe(false);
    expect(paths.matches('out', true)).toBe(true);
    expect(paths.matches('out/b.txt', false)).toBe(true);
  });

  it('info/exclude counts, and core.ignorecase of the configuration', () => {
    const rules = { exclude: 'Secret\n', config: '[core]\n\tignorecase = true\n' };
    expect(projectOf({ repositories: { '': rules } }).paths.matches('SECRET', false)).toBe(true);
    expect(projectOf({ repositories: { '': { exclude: 'Secret\n' } } }).paths.matches('SECRET', false)).toBe(false);
  });

  it('a repository inside has rules of its own', () => {
    const { paths } = projectOf({ ignoreFiles: { '': '*.o\n', sub: '*.tmp\n' }, repositories: { sub: {} } });
    expect(paths.matches('sub/a.o', false)).toBe(false);
    expect(paths.matches('sub/a.tmp', false)).toBe(true);
    expect(paths.topsAround('sub/deep')).toEqual(['sub', '']);
  });

  it('.git and paths that are too deep are not ignored; each file is asked for once', () => {
    const { paths, asked } = projectOf({ ignoreFiles: { '': '*\n' } });
    expect(paths.matches('.git', true)).toBe(false);
    expect(paths.matches(`${'d/'.repeat(100)}f`, false)).toBe(false);
    paths.matches('a/x', false);
    paths.matches('a/y', false);
    expect(asked.filter((dir) => dir === '')).toHaveLength(1);
  });
});

describe('what a repository has in its index', () => {
  const { paths } = projectOf({ repositories: { sub: {} }, tracked: { '': ['a/b/c'], sub: ['x'] } });

  it.each([
    ['a/b/c', true],
    ['a/b', false],
    ['sub/x', true],
    ['sub/y', false],
  ])('%s: %s', (path, isTracked) => {
    expect(paths.mayTrack(path)).toBe(isTracked);
  });

  it('directories on the way to it, and everything where the index cannot be read', () => {
    expect(paths.mayTrackBelow('a')).toBe(true);
    expect(paths.mayTrackBelow('b')).toBe(false);
    expect(projectOf({}).paths.mayTrack('any')).toBe(true);
  });
});
