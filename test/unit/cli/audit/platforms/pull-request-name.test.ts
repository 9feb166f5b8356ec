import { expect, it } from 'vitest';
import { namePullRequest } from '../../../../../src/cli/audit/platforms/pull-request-name.ts';
import { tokenFor } from '../../../../../src/cli/audit/platforms/token.ts';

const short = (word: string, origin?: string): string => {
  const { platform, api, git, number } = namePullRequest(word, () => origin);
  return `${platform} ${api} ${git} ${number}`;
};
const GITHUB = 'github https://api.github.com https://github.com/o/r.git 7';

it.each([
  ['https://github.com/o/r/pull/7', undefined, GITHUB],
  ['https://github.com/o/r/pull/7/files#x', undefined, GITHUB],
  [
    'https://git.example.org/o/r/pull/7',
    undefined,
    'github https://git.example.org/api/v3 https://git.example.org/o/r.git 7',
  ],
  [
    'https://gitlab.com/g/s/r/-/merge_requests/7',
    undefined,
    'gitlab https://gitlab.com/api/v4 https://gitlab.com/g/s/r.git 7',
  ],
  ['7', 'git@github.com:o/r.git', GITHUB],
  ['#7', 'https://you:secret@github.com/o/r', GITHUB],
  ['7', 'ssh://git@github.com:22/o/r.git', GITHUB],
  [
    '7',
    'git@gitlab.example.org:g/s/r.git',
    'gitlab https://gitlab.example.org/api/v4 https://gitlab.example.org/g/s/r.git 7',
  ],
])('%s with the origin %s', (word, origin, wanted) => {
  expect(short(word, origin)).toBe(wanted);
});

it.each([
  ['x'],
  ['-7'],
  ['--upload-pack=x'],
  ['http://github.com/o/r/pull/7'],
  ['file:///o/r/pull/7'],
  ['ext::sh -c x'],
  ['https://github.com/../r/pull/7'],
  ['https://github.com/o/r/issues/7'],
  ['7', '/srv/r.git'],
  ['7'],
])('refuses %s with the origin %s', (word: string, origin?: string) => {
  expect(() => short(word, origin)).toThrow(/^--pr/);
});

it('has a token for its own host alone', () => {
  const env = { GH_TOKEN: 'hub', GITLAB_TOKEN: 'lab', GH_ENTERPRISE_TOKEN: 'own', GH_HOST: 'git.example.org' };
  const token = (platform: 'github' | 'gitlab', host: string, more = {}) =>
    tokenFor({ platform, host }, { ...env, ...more });
  expect(token('github', 'github.com')).toBe('hub');
  expect(token('github', 'git.example.org')).toBe('own');
  expect(token('github', 'evil.example.org')).toBe(undefined);
  expect(token('github', 'github.com.evil.example.org')).toBe(undefined);
  expect(token('github', 'ci.example.org', { GITHUB_SERVER_URL: 'https://ci.example.org' })).toBe('hub');
  expect(token('gitlab', 'gitlab.com')).toBe('lab');
  expect(token('gitlab', 'evil.example.org')).toBe(undefined);
  expect(token('gitlab', 'ci.example.org', { CI_SERVER_HOST: 'ci.example.org' })).toBe('lab');
});
