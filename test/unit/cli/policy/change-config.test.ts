import { lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { CommandContext } from '../../../../src/cli/context/context.ts';
import { changeConfig } from '../../../../src/cli/policy/change-config.ts';

function sceneOf() {
  const root = mkdtempSync(path.join(tmpdir(), 'run-claude-change-config-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const places = { configDir: path.join(root, 'config'), stateDir: path.join(root, 'state') };
  mkdirSync(places.stateDir, { mode: 0o700 });
  const context = { places, interruption: new AbortController() } as unknown as CommandContext;
  return { root, context, file: path.join(places.configDir, 'config.toml') };
}

it('makes the file for its user alone, and leaves one that stays as it is', async () => {
  const { context, file } = sceneOf();
  await changeConfig(context, (text) => `${text}a = 1\n`);
  expect([readFileSync(file, 'utf8'), statSync(path.dirname(file)).mode & 0o777]).toEqual(['a = 1\n', 0o700]);
  const { ino } = statSync(file);
  await changeConfig(context, (text) => text);
  expect(statSync(file).ino).toBe(ino);
});

it('keeps a link, and changes the file that it leads to', async () => {
  const { root, context, file } = sceneOf();
  const own = path.join(root, 'own.toml');
  writeFileSync(own, 'a = 1\n');
  mkdirSync(path.dirname(file));
  symlinkSync(own, file);
  await changeConfig(context, (text) => `${text}b = 2\n`);
  expect(lstatSync(file).isSymbolicLink()).toBe(true);
  expect(readFileSync(own, 'utf8')).toBe('a = 1\nb = 2\n');
});

it('two changes at once are both in the file, and a failed one changes nothing', async () => {
  const { context, file } = sceneOf();
  const add = (line: string) => changeConfig(context, (text) => `${text}${line}\n`);
  await Promise.all([add('a = 1'), add('b = 2')]);
  expect(readFileSync(file, 'utf8').split('\n').sort()).toEqual(['', 'a = 1', 'b = 2']);
  const failing = changeConfig(context, () => {
    throw new Error('refused');
  });
  await expect(failing).rejects.toThrow('refused');
  await add('c = 3');
  expect(readFileSync(file, 'utf8')).toContain('c = 3');
});
