import { expect, it } from 'vitest';
import { readConfigFile } from '../../../../../src/core/config/config-file.ts';
import { mergePolicy } from '../../../../../src/core/config/merge-policy.ts';

const read = (text: string) => readConfigFile(text, 'config.toml').tests;
const merge = (config: string, project: string) =>
  mergePolicy({
    config: { where: 'config.toml', settings: readConfigFile(config, 'config.toml') },
    projectFile: { where: '.run-claude.toml', settings: readConfigFile(project, '.run-claude.toml') },
    projectIgnore: [],
    environment: {},
    flags: [{ flag: '--test', setting: 'test', value: ['make a,b'] }],
  });

it('reads tests with their limits', () => {
  expect(read('[[test]]\nname = "unit"\ncommand = "npm test"\ntimeout = "5m"\nneeds-network = true')).toEqual([
    { name: 'unit', command: 'npm test', timeoutMs: 300_000, needsNetwork: true },
  ]);
  expect(read('[[test]]\nname = "a"\ncommand = "b"')[0]).toMatchObject({ timeoutMs: 600_000, needsNetwork: false });
});

it.each([
  ['[[test]]\nname = "a"', /command/],
  ['[[test]]\nname = "a"\ncommand = ""', /command/],
  ['[[test]]\nname = "a"\ncommand = "b"\ntimeout = "soon"', /a duration, such as/],
  ['[[test]]\nname = "a"\ncommand = "b"\nnetwork = true', /network/],
  ['[[test]]\nname = "a"\ncommand = "b"\n[[test]]\nname = "a"\ncommand = "c"', /two tests have the same name/],
])('refuses %j', (text, message) => {
  expect(() => read(text)).toThrow(message);
});

it('takes tests from the user alone', () => {
  const table = '[[test]]\nname = "a"\ncommand = "b"';
  const { policy, warnings } = merge(table, '[[test]]\nname = "c"\ncommand = "d"');
  expect(policy.tests?.map(({ name }) => name)).toEqual(['a']);
  expect(policy.test).toEqual(['make a,b']);
  expect(warnings).toEqual(['.run-claude.toml: [[test]] cannot be set by a project; ignored']);
});
