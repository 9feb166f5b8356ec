import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { AgentFolders } from '../../../../../src/core/host/programs/agent-folders.ts';
import { outsideEnvironment } from '../../../../../src/core/host/programs/outside-environment.ts';

const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'run-claude-outside-')));
afterAll(() => rmSync(root, { recursive: true }));
const at = (...parts: readonly string[]): string => path.join(root, ...parts);
for (const dir of ['project/bin', 'tools']) mkdirSync(at(dir), { recursive: true });
symlinkSync(at('tools'), at('linked'));
const folders = new AgentFolders();
folders.add([at('project')]);

it('keeps the folders of PATH that are absolute and outside, without links and each once', () => {
  const PATH = ['', '.', at('project/bin'), at('linked'), at('tools'), at('none'), 'bin'].join(':');
  expect(outsideEnvironment({ PATH }, folders).env).toEqual({ PATH: at('tools') });
});

it('leaves out every variable that leads into the project, and keeps places and all others', () => {
  const env = {
    HOME: at('project/home'),
    PWD: at('project'),
    XDG_CONFIG_HOME: at('project/config'),
    XDG_CONFIG_DIRS: `/etc/xdg:${at('project/xdg')}`,
    XDG_DATA_DIRS: `${at('project/share')}:/usr/share`,
    GH_CONFIG_DIR: at('project/gh'),
    GNUPGHOME: at('project/gnupg'),
    LANG: 'C',
    DOCKER_HOST: `unix://${at('project/s')}`,
    LD_LIBRARY_PATH: `/usr/lib:${at('project')}`,
    NEVER_HEARD_OF: at('project/x'),
    LD_PRELOAD: 'x.so',
    EMPTY: undefined,
  };
  const { env: kept, dropped } = outsideEnvironment(env, folders);
  expect(Object.keys(kept).sort()).toEqual(['HOME', 'LANG', 'PWD', 'XDG_CONFIG_HOME']);
  expect(dropped.toSorted()).toEqual(
    ['DOCKER_HOST', 'GH_CONFIG_DIR', 'GNUPGHOME', 'LD_LIBRARY_PATH', 'LD_PRELOAD', 'NEVER_HEARD_OF'].concat([
      'XDG_CONFIG_DIRS',
      'XDG_DATA_DIRS',
    ]),
  );
});
