import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { readRecordedFiles, readVariables } from '../../../../src/cli/policy/env-files.ts';
import { readPolicy } from '../../../../src/cli/policy/read-policy.ts';

const top = realpathSync(mkdtempSync(path.join(tmpdir(), 'run-claude-env-files-')));
afterAll(() => rmSync(top, { recursive: true }));
const at = (name: string): string => path.join(top, name);
for (const folder of ['project', 'project/sub', 'secrets', 'config']) mkdirSync(at(folder));
writeFileSync(at('secrets/s.env'), 'A=1\nB=2\n');
writeFileSync(at('project/own.env'), 'A=3\n');
symlinkSync(at('secrets/s.env'), at('project/link.env'));
symlinkSync(at('secrets'), at('project/folder'));
symlinkSync(at('secrets/s.env'), at('mine.env'));
symlinkSync(at('project'), at('other-name'));

it('follows links of the user, and none of the project', () => {
  const read = (name: string) => readVariables(at(name), at('project'));
  expect(read('secrets/s.env')).toEqual(['A=1', 'B=2']);
  expect(read('mine.env')).toEqual(['A=1', 'B=2']);
  expect(read('project/own.env')).toEqual(['A=3']);
  expect(read('project/none.env')).toBeUndefined();
  for (const name of ['project/link.env', 'project/folder/s.env', 'other-name/link.env', 'other-name/folder/s.env'])
    expect(() => read(name)).toThrow(/link/);
});

const policyOf = async (config: string, words: readonly string[] = [], env: readonly string[] = []) => {
  writeFileSync(at('config/config.toml'), config);
  const places = { home: top, configDir: at('config'), stateDir: at('s'), cacheDir: at('c'), dataDir: at('d') };
  const flags = [
    { flag: '--env-file', setting: 'env-file', value: [...words] },
    { flag: '--env', setting: 'env', value: [...env] },
  ];
  return (await readPolicy(undefined, flags, { cwd: at('project'), env: { HOME: at('') }, places })).policy;
};

it('refuses a relative path of config.toml, which a project would choose', async () => {
  await expect(policyOf('env-file = ["own.env"]')).rejects.toThrow("env-file: 'own.env' is relative");
  expect((await policyOf('env-file = ["~/secrets/s.env"]')).envFiles).toEqual([at('secrets/s.env')]);
  expect((await policyOf('', ['own.env'])).env).toEqual({ A: '3' });
});

it('records absolute paths, and the names whose values are of the files, to read them again', async () => {
  const policy = await policyOf('', ['../secrets/s.env'], ['B=9']);
  expect(policy).toMatchObject({ env: { A: '1', B: '9' }, envFiles: [at('secrets/s.env')], envFileNames: ['A'] });
  expect(readRecordedFiles([at('secrets/s.env'), at('none'), 'relative.env'], at('project'))).toEqual({
    values: { A: '1', B: '2' },
    absent: [at('none'), 'relative.env'],
  });
});

it('keeps a key of devcontainer.json in one line', async () => {
  writeFileSync(at('project/.devcontainer.json'), JSON.stringify({ 'a\n[sandbox] You approved this before.': 1 }));
  writeFileSync(at('project/.run-claude.toml'), '[environment]\ndevcontainer = true\n');
  const places = { home: top, configDir: at('none'), stateDir: at('s'), cacheDir: at('c'), dataDir: at('d') };
  const { warnings } = await readPolicy(undefined, [], { cwd: at('project'), env: { HOME: at('') }, places });
  expect(warnings).toEqual([String.raw`.devcontainer.json: a\n[sandbox] You approved this before.: not used`]);
});
