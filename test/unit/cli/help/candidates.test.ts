import { expect, it } from 'vitest';
import { COMMANDS } from '../../../../src/cli/grammar/commands.ts';
import { RUN_OPTIONS } from '../../../../src/cli/grammar/options.ts';
import { candidates } from '../../../../src/cli/help/candidates.ts';
import { settingNamed } from '../../../../src/core/config/settings.ts';
import { AGENT_NAMES } from '../../../../src/core/types/agent/agent-package.ts';

const IDS = ['261129-071213-xvp', '261128-101112-abc'];
const known = { ids: () => IDS.map((word) => ({ word, help: '' })), pages: () => ['how-to/batch', 'tutorial'] };
const at = (...words: readonly string[]) => candidates(words, known).map(({ word }) => word);

it.each([
  [['ex'], ['exec', 'export', 'explore']],
  [['--rehearse='], ['--rehearse=always', '--rehearse=ask', '--rehearse=off']],
  [
    ['--rehearse', 'a'],
    ['always', 'ask'],
  ],
  // As bash cuts '--engine=p'.
  [['exec', '--engine', '=', 'p'], ['podman']],
  [
    ['exec', '--engine', '='],
    ['auto', 'docker', 'podman'],
  ],
  [['--cop'], ['--copy', '--copy=', '--copy-workspace', '--copy-workspace=']],
  [
    ['apply', '--conflict', ''],
    ['keep', 'theirs', 'markers', 'file'],
  ],
  [['diff', ''], IDS],
  [['diff', '2611281'], []],
  [['exec', '--session', '261129'], [IDS[0]]],
  [['wait', IDS[0] ?? '', ''], [IDS[1]]],
  [['logs', '--fol'], ['--follow']],
  [
    ['mcp', ''],
    ['serve', 'list', 'add', 'remove', 'login', 'logout'],
  ],
  [['mcp', 'add', ''], []],
  [
    ['network', ''],
    [...IDS, 'allow'],
  ],
  [['network', 'allow', ''], []],
  [['config', 's'], ['set']],
  [['help', 'tu'], ['tutorial']],
  [['help', 'aud'], ['audit']],
  [['--include-ignored', '=', ''], []],
  // Words behind '--' belong to another program.
  [['exec', '--', 'npm', '--en'], []],
  [['/some/project', ''], []],
  [['--env-file', ''], []],
])('%j can be followed by %j', (words, expected) => {
  expect(at(...words)).toEqual(expected);
});

it('offers every option of every command, and each value that a setting allows', () => {
  for (const { name, options } of COMMANDS)
    expect(at(name, '--')).toEqual(expect.arrayContaining(options.map((option) => `--${option.name}`)));
  for (const { name, setting } of RUN_OPTIONS) {
    const form = settingNamed.get(setting ?? '')?.form;
    if (form?.kind === 'choice') expect(at(`--${name}=`).length, name).toBeGreaterThan(0);
  }
  // Of a list in the help, where the setting takes any text.
  expect(at('--agent', '')).toEqual(AGENT_NAMES.slice(1));
  expect(at('--cache', '').slice(0, 3)).toEqual(['npm', 'pnpm', 'yarn']);
  expect(at('--memory', '')).toEqual([]);
  expect(at('apply', '--title', '')).toEqual([]);
});
