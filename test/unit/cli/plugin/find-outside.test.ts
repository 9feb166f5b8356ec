import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

const script = path.resolve(import.meta.dirname, '../../../../plugin/hooks/find-outside.sh');
const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'run-claude-find-outside-')));
afterAll(() => rmSync(root, { recursive: true }));
const at = (...parts: readonly string[]): string => path.join(root, ...parts);

function program(...parts: readonly string[]): void {
  mkdirSync(path.dirname(at(...parts)), { recursive: true });
  writeFileSync(at(...parts), '#!/bin/sh\n', { mode: 0o755 });
}
program('outside/bin/tool');
program('project/bin/tool');
program('other/bin/tool');
program('bound/bin/tool');
program('state/run-claude/sessions/x/home/bin/tool');
program('deep/new\nline/bin/tool');
program('many/real');
mkdirSync(at('home'));
mkdirSync(at('linked'));
symlinkSync(at('project/bin/tool'), at('linked/tool'));
symlinkSync(at('outside/bin'), at('project/out'));
symlinkSync(at('project/out'), at('through'));
symlinkSync(at('state/run-claude/sessions/x/home/bin'), at('project/home'));
symlinkSync('../../many/real', at('outside/bin/by-name'));
symlinkSync('/usr', at('project/status'));
writeFileSync(at('state/run-claude/agent-folders'), `${at('bound')}\n`);

/** The lines of a script after the functions, as the launcher runs them. */
function run(lines: string, { cwd = '/', words = [], env = {} }: Run = {}): string {
  const text = `. '${script}'\nadd_projects "$@"\n${lines}`;
  const own = { HOME: at('home'), XDG_STATE_HOME: at('state'), XDG_CACHE_HOME: at('cache'), XDG_DATA_HOME: at('data') };
  return execFileSync('/bin/sh', ['-c', text, 'sh', ...words], { cwd, env: { ...own, ...env }, encoding: 'utf8' });
}
interface Run {
  readonly cwd?: string;
  readonly words?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}
const found = (dirs: readonly string[], more: Run & { readonly name?: string } = {}): string =>
  run(`find_outside ${more.name ?? 'tool'}; printf %s "$program"`, {
    ...more,
    env: { ...more.env, PATH: [...dirs, at('outside/bin')].join(':') },
  });
const outside = at('outside/bin/tool');

describe('a program', () => {
  it.each<[string, readonly string[], Run]>([
    ['the current project', [at('project/bin')], { cwd: at('project') }],
    ['a relative folder of PATH', ['bin', '', '.'], { cwd: at('project/bin') }],
    ['a project that is named', [at('other/bin')], { words: ['exec', at('other')] }],
    ['a folder of --also', [at('other/bin')], { words: [`--also=${at('other')}:ro`] }],
    ['the project of a bind session', [at('bound/bin')], {}],
    ['a link from outside into the project', [at('linked')], { cwd: at('project') }],
    ['a link of the project to a folder outside', [at('project/out')], { cwd: at('project') }],
    ['a path over a link of the project', [at('through')], { cwd: at('project') }],
    ['the home of an agent, over a link of a project', [at('project/home')], {}],
    ['a project whose name has a line break', [at('deep/new\nline/bin')], { cwd: at('deep/new\nline') }],
  ])('is not taken from %s', (_, dirs, more) => {
    expect(found(dirs, more)).toBe(outside);
  });

  it('is found where no agent was, and keeps the name of its link', () => {
    expect(found([at('other/bin')])).toBe(at('other/bin/tool'));
    expect(found([], { name: 'by-name' })).toBe(at('outside/bin/by-name'));
  });

  it('is found where the project has a link with the name of a command', () => {
    expect(
      run('find_outside sh; printf %s "$program"', {
        cwd: at('project'),
        words: ['status'],
        env: { PATH: '/usr/bin' },
      }),
    ).toBe('/usr/bin/sh');
  });
});

describe('the environment of Node', () => {
  const kept = (name: string, value: string): string =>
    run(`clean_node_environment; printf %s "\${${name}-dropped}"`, {
      cwd: at('project'),
      env: { [name]: value, PATH: '' },
    });

  it.each([
    ['OPENSSL_CONF', 'openssl.cnf'],
    ['OPENSSL_CONF', at('linked/tool')],
    ['LD_LIBRARY_PATH', 'lib'],
    ['LD_LIBRARY_PATH', `/usr/lib:${at('project/lib')}`],
    ['LD_LIBRARY_PATH', '/usr/lib:'],
    ['NODE_PATH', '/anywhere'],
  ])('has no %s=%s', (name, value) => {
    expect(kept(name, value)).toBe('dropped');
  });

  it('keeps what is outside, and options of Node that load nothing', () => {
    expect(kept('NODE_EXTRA_CA_CERTS', at('outside/ca.pem'))).toBe(at('outside/ca.pem'));
    expect(kept('NODE_OPTIONS', '--use-system-ca --require ./x --max-old-space-size=99 -r y')).toBe(
      '--use-system-ca --max-old-space-size=99',
    );
  });
});
