import { expect, it } from 'vitest';
import { DEFAULTS } from '../../../../src/core/config/settings.ts';
import type { Environment } from '../../../../src/core/types/setup/environment.ts';
import { sessionNote } from '../../../../src/session/plan/session-note.ts';

const note = (environment: Environment | undefined, mode: 'copy' | 'bind' = 'copy'): string =>
  sessionNote({ policy: { ...DEFAULTS, environment }, mode }) ?? '';
const nothing: Environment = { packages: [], setup: undefined, env: {}, files: [] };

it('names packages, setup, variables and registries, and how to ask for more', () => {
  const text = note({ packages: ['ruby', 'redis-server'], setup: 'npm ci\necho `x`', env: { A: 'value' }, files: [] });
  expect(text).toContain('`ruby`, `redis-server`');
  expect(text).toContain("`npm ci; echo 'x'`");
  expect(text).toContain('are set: `A`.');
  expect(text).not.toContain('value');
  expect(text).toContain('registries `npm`, `pypi`, `crates`, `go`, `debian`');
  expect(text).toContain('.run-claude.toml');
  expect(text).not.toContain('hromium');
});

it('explains the browser, and the limits of bind mode; says nothing without an environment', () => {
  expect(note({ ...nothing, packages: ['chromium'] })).toContain("channel: 'chrome'");
  expect(note({ ...nothing, setup: 'x' }, 'bind')).toContain('is not there');
  expect(note(undefined)).toBe('');
});

it('names the folders besides the project, also without an environment', () => {
  const project = { root: '/x', startIn: '', git: 'none', gitCommonDir: undefined, ownerUid: 1, ownerGid: 1 } as const;
  const folder = (name: string, isReadonly: boolean) => ({ name, isReadonly, project, sessionId: '' });
  const text = sessionNote({ policy: DEFAULTS, mode: 'copy', also: [folder('lib', false), folder('docs', true)] });
  expect(text).toMatch(/`\/also\/lib` [^\n]* reviewed[^\n]*\n- `\/also\/docs` [^\n]*only read/);
});

it('names the caches that the session has, and nothing of those that could not be filled', () => {
  const caches = [{ ecosystem: 'npm' as const, address: '0', dir: '/c' }];
  const policy = { ...DEFAULTS, caches: ['npm', 'go'] as const };
  const text = sessionNote({ policy, mode: 'copy', caches });
  expect(text).toContain('- `npm ci` and `npm install` take the packages of the lock file');
  expect(text).not.toContain('go build');
});

it('tells the agent how new files with secrets end a session, in bind mode', () => {
  const text = (mode: 'copy' | 'bind'): string => sessionNote({ policy: DEFAULTS, mode, masked: ['.env'] }) ?? '';
  expect(text('bind')).toMatch(/in: `\.env`.*A new file such as `\.env`.*placeholder/s);
  expect(text('copy')).not.toContain('A new file');
});
