import { expect, it } from 'vitest';
import { readConfigFile } from '../../../../../src/core/config/config-file.ts';
import { mergePolicy } from '../../../../../src/core/config/merge-policy.ts';

const read = (text: string) => readConfigFile(text, 'config.toml').scenes;
const TABLE = '[[scene]]\nname = "storybook"\ncommand = "npm run storybook"\n';

it('reads scenes with where they are tried and their time limit', () => {
  expect(read(`${TABLE}files = [".storybook/main.js", "a b"]\ntools = ["npm", "g++"]\ntimeout = "90s"`)).toEqual([
    {
      name: 'storybook',
      command: 'npm run storybook',
      files: ['.storybook/main.js', 'a b'],
      tools: ['npm', 'g++'],
      timeoutMs: 90_000,
    },
  ]);
  expect(read(TABLE)[0]).toMatchObject({ files: [], tools: [], timeoutMs: 60_000 });
});

it.each([
  ['[[scene]]\nname = "a"', /command/],
  ['[[scene]]\nname = "a\\u001bb"\ncommand = "b"', /a name without control characters/],
  [`${TABLE}files = ["/etc/passwd"]`, /a path in the project, without a colon/],
  [`${TABLE}files = ["a/../../b"]`, /a path in the project, without a colon/],
  [`${TABLE}files = ["a:b"]`, /a path in the project, without a colon/],
  [`${TABLE}files = "a"`, /files/],
  [`${TABLE}tools = ["sh -c"]`, /the name of a program/],
  [`${TABLE}timeout = 5`, /timeout/],
  [`${TABLE}network = true`, /network/],
  [`${TABLE}${TABLE}`, /two scenes have the same name/],
])('refuses %j', (text, message) => {
  expect(() => read(text)).toThrow(message);
});

it('takes scenes from the user alone', () => {
  const { policy, warnings } = mergePolicy({
    config: { where: 'config.toml', settings: readConfigFile(TABLE, 'config.toml') },
    projectFile: { where: '.run-claude.toml', settings: readConfigFile(TABLE.replace('npm', 'curl'), 'x') },
    projectIgnore: [],
    environment: {},
    flags: [],
  });
  expect(policy.scenes?.map(({ command }) => command)).toEqual(['npm run storybook']);
  expect(warnings).toEqual(['.run-claude.toml: [[scene]] cannot be set by a project; ignored']);
});
