import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../../../../src/core/host/package.ts';
import { agentFolders } from '../../../../../src/core/host/programs/start-program.ts';
import {
  distrustBefore,
  recordAgentFolders,
  requireOutside,
  requirePackageOutside,
} from '../../../../../src/core/host/programs/trusted-start.ts';

const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'run-claude-trusted-')));
afterAll(() => rmSync(root, { recursive: true }));
const at = (...parts: readonly string[]): string => path.join(root, ...parts);
for (const dir of ['home', 'repo/.git', 'repo/inner', 'named', 'also', 'also-2', 'bound', 'free'])
  mkdirSync(at(dir), { recursive: true });

it('records each folder of a bind session once, for this user alone', () => {
  recordAgentFolders(at('state'), [at('bound')]);
  recordAgentFolders(at('state'), [at('bound'), at('gone')]);
  const { dev, ino, birthtimeNs } = statSync(at('bound'), { bigint: true });
  expect(readFileSync(at('state/agent-folders'), 'utf8')).toBe(
    `${at('bound')}\nidentity ${dev}:${ino}:${birthtimeNs}\n${at('gone')}\n`,
  );
  expect(statSync(at('state/agent-folders')).mode & 0o777).toBe(0o600);
});

const own = { stateDir: at('state'), cacheDir: at('cache'), dataDir: at('data') };

it('distrusts run-claude’s own directories, which hold homes of agents', () => {
  mkdirSync(at('cache'));
  distrustBefore({ cwd: '/', home: at('home'), ...own });
  for (const inside of ['state', 'cache']) expect(agentFolders.resolve(at(inside))).toBe('inside');
});

it('still distrusts the folder of a bind session that was renamed', () => {
  mkdirSync(at('named-before'));
  recordAgentFolders(at('moved'), [at('named-before')]);
  renameSync(at('named-before'), at('named-after'));
  distrustBefore({ cwd: '/', home: at('home'), ...own, stateDir: at('moved') });
  expect(agentFolders.resolve(at('named-after/x'))).toBe('inside');
  expect(() => requireOutside([], 'copy', user('moved'), { 'run-claude': at('named-after') })).toThrow(
    'run-claude is in a folder that the agent can write',
  );
});

it('distrusts the repository around, and the folders of earlier bind sessions', () => {
  distrustBefore({ cwd: at('repo/inner'), home: at('home'), ...own });
  for (const inside of ['repo', 'bound']) expect(agentFolders.resolve(at(inside))).toBe('inside');
  expect(agentFolders.resolve(at('home'))).toBe(at('home'));
  expect(agentFolders.resolve(at('free'))).toBe(at('free'));
});

const user = (stateDir: string, more: object = {}) => ({
  stateDir: at(stateDir),
  configDir: at('config'),
  home: at('home'),
  env: {},
  ...more,
});

describe('a run-claude that the agent can write', () => {
  const programs = { 'run-claude': at('named'), 'Node.js': process.execPath };
  const refusal = { code: 'PACKAGE_IN_PROJECT', status: 2 };

  it('starts no agent in the project that has it, and none at all after a bind session there', () => {
    expect(() => requireOutside([root], 'copy', user('none'), programs)).toThrow(expect.objectContaining(refusal));
    recordAgentFolders(at('later'), [at('named')]);
    expect(() => requireOutside([], 'copy', user('later'), programs)).toThrow(expect.objectContaining(refusal));
  });

  it('starts one in any other project', () => {
    expect(() => requireOutside([at('free')], 'bind', user('none'), programs)).not.toThrow();
  });
});

it('starts no agent where a package manager linked run-claude’s own files into the project', () => {
  mkdirSync(at('store/dist'), { recursive: true });
  writeFileSync(at('store/dist/main.js'), '');
  mkdirSync(at('linked/node_modules/.pnpm/run-claude@1.0.0/node_modules/run-claude/dist'), { recursive: true });
  const start = () => requireOutside([at('linked')], 'bind', user('none'), { 'run-claude': at('store') });
  expect(start).not.toThrow();
  linkSync(
    at('store/dist/main.js'),
    at('linked/node_modules/.pnpm/run-claude@1.0.0/node_modules/run-claude/dist/main.js'),
  );
  expect(start).toThrow(expect.objectContaining({ code: 'PACKAGE_IN_PROJECT' }));
});

describe('settings that lead into the project', () => {
  mkdirSync(at('dotfiles'));
  mkdirSync(at('config'));
  for (const name of ['config.toml', 'settings.json', 'gitconfig']) writeFileSync(at('dotfiles', name), '');
  symlinkSync(at('dotfiles/config.toml'), at('config/config.toml'));
  const refusal = expect.objectContaining({ code: 'SETTINGS_IN_PROJECT', status: 2 });
  const start = (mode: 'copy' | 'bind', more: object) => () =>
    requireOutside([at('dotfiles')], mode, user('none', { configDir: at('none'), ...more }), {});

  const write = (file: string, text: string): object => {
    mkdirSync(path.dirname(at('fresh', file)), { recursive: true });
    writeFileSync(at('fresh', file), text);
    return {};
  };
  const link = (file: string): object => {
    mkdirSync(path.dirname(at('fresh', file)), { recursive: true });
    symlinkSync(at('dotfiles/any'), at('fresh', file));
    return {};
  };

  it.each(['copy', 'bind'] as const)(
    'keep run-claude from starting an agent there in %s mode, where they are its own',
    (mode) => {
      expect(start(mode, { configDir: at('config') })).toThrow(refusal);
      expect(start(mode, { env: { CLAUDE_CONFIG_DIR: at('dotfiles') } })).toThrow(refusal);
      expect(start(mode, {})).not.toThrow();
    },
  );

  it.each<[string, () => object]>([
    ['an include of ssh', () => write('.ssh/config', `Host x\n  Include ${at('dotfiles/ssh.conf')}\n`)],
    [
      'an include of an include',
      () => {
        write('.ssh/more', `include = "${at('dotfiles')}/*.conf"\n`);
        return write('.ssh/config', 'Include m*\n');
      },
    ],
    ['an include over a pattern', () => write('.ssh/config', `Include ${root}/d[a-z]*/ssh.conf\n`)],
    ['a link in the folder of gpg', () => link('.gnupg/gpg-agent.conf')],
    ['a link to a folder of gh', () => link('.config/gh')],
    ["gh's extension", () => link('.local/share/gh/extensions/gh-x')],
    ['a docker context', () => link('.docker/contexts/meta/x/meta.json')],
    ['a plugin of an editor', () => link('.vim/pack/x/start/y')],
    ['an application that opens addresses', () => link('.local/share/applications/x.desktop')],
    [
      'settings under XDG_CONFIG_HOME',
      () => ({ ...link('xdg/git/config'), env: { XDG_CONFIG_HOME: at('fresh/xdg') } }),
    ],
    ['settings that a variable names', () => ({ env: { GNUPGHOME: at('dotfiles/gnupg') } })],
  ])('do so in bind mode: %s', (_, prepare) => {
    rmSync(at('fresh'), { recursive: true, force: true });
    mkdirSync(at('fresh'));
    expect(start('bind', { home: at('fresh') })).not.toThrow();
    const more = { home: at('fresh'), ...prepare() };
    expect(start('bind', more)).toThrow(refusal);
    expect(start('copy', more)).not.toThrow();
  });

  it('are not those that lead elsewhere, or are of no program that run-claude starts', () => {
    rmSync(at('fresh'), { recursive: true, force: true });
    write('.ssh/config', `Include ${at('free')}/* "unclosed [a ~/x\nInclude\nInclude .ssh/config\n`);
    link('.config/other/config');
    symlinkSync(at('free'), at('fresh/.vim'));
    symlinkSync(at('fresh/.gnupg'), at('fresh/.gnupg'));
    expect(start('bind', { home: at('fresh') })).not.toThrow();
  });

  it('do so in bind mode alone, where they are of git and its like', () => {
    symlinkSync(at('dotfiles/gitconfig'), at('home/.gitconfig'));
    expect(start('bind', {})).toThrow(refusal);
    expect(start('copy', {})).not.toThrow();
  });
});

it('refuses run-claude in a folder that others can write, for commands that decide or have a token', () => {
  const refusal = { code: 'PACKAGE_IN_PROJECT', status: 2 };
  expect(() => requirePackageOutside([realpathSync(packageRoot)])).toThrow(expect.objectContaining(refusal));
  expect(() => requirePackageOutside([at('free')])).not.toThrow();
  mkdirSync(at('free/node_modules/run-claude/dist'), { recursive: true });
  writeFileSync(at('free/node_modules/run-claude/dist/main.js'), '');
  expect(() => requirePackageOutside([at('free')])).not.toThrow();
});
