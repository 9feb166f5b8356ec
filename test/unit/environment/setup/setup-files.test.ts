import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { EVERYTHING, selectPaths } from '../../../../src/core/text/selection.ts';
import {
  placeEntries,
  readSetupFiles,
  type SetupInputs,
  setupAddress,
  setupFileDigests,
} from '../../../../src/environment/setup/setup-files.ts';

const root = mkdtempSync(path.join(tmpdir(), 'run-claude-setup-'));
afterAll(() => rmSync(root, { recursive: true }));
mkdirSync(path.join(root, 'a/b'), { recursive: true });
writeFileSync(path.join(root, 'a/b/lock.json'), 'lock');
writeFileSync(path.join(root, 'run.sh'), '#!/bin/sh');
writeFileSync(path.join(root, '.env'), 'SECRET');
chmodSync(path.join(root, 'run.sh'), 0o755);
symlinkSync('/etc/passwd', path.join(root, 'link'));
symlinkSync('/etc', path.join(root, 'folder'));

const read = (names: readonly string[], rules = EVERYTHING) => readSetupFiles(root, names, rules);

it('reads the named files, as entries of a place with their folders', () => {
  expect(placeEntries(read(['a/b/lock.json', 'run.sh']))).toEqual([
    { path: 'a', mode: 0o755, content: 'directory' },
    { path: 'a/b', mode: 0o755, content: 'directory' },
    { path: 'a/b/lock.json', mode: 0o644, content: Buffer.from('lock') },
    { path: 'run.sh', mode: 0o755, content: Buffer.from('#!/bin/sh') },
  ]);
});

it('refuses links, folders, and what is not there', () => {
  for (const name of ['link', 'folder/passwd', 'a/b', 'none', 'none/x'])
    expect(() => read([name])).toThrow(`environment: files: ${name}`);
});

it('names the content of each file, and what cannot be read', () => {
  const names = ['a/b/lock.json', 'run.sh', 'link', 'folder/passwd', 'none'];
  const first = setupFileDigests(root, names);
  expect(Object.keys(first)).toEqual(names);
  expect(first).toMatchObject({ link: 'unreadable', 'folder/passwd': 'unreadable', none: 'unreadable' });
  expect(setupFileDigests(root, names)).toEqual(first);
  writeFileSync(path.join(root, 'a/b/lock.json'), 'lock2');
  chmodSync(path.join(root, 'run.sh'), 0o644);
  const second = setupFileDigests(root, names);
  expect(second['a/b/lock.json']).not.toBe(first['a/b/lock.json']);
  expect(second['run.sh']).not.toBe(first['run.sh']);
  writeFileSync(path.join(root, 'a/b/lock.json'), 'lock');
  chmodSync(path.join(root, 'run.sh'), 0o755);
  expect(setupFileDigests(root, names)).toEqual(first);
});

it('refuses what the agent may not see', () => {
  const rules = selectPaths({ exclude: ['a/'], include: [], mask: ['.env'] });
  expect(() => read(['.env'], rules)).toThrow('.env is excluded or masked');
  expect(() => read(['a/b/lock.json'], rules)).toThrow('a/b/lock.json is excluded');
  expect(read(['run.sh'], rules)).toHaveLength(1);
});

it('names the inputs: any other input gives another address', () => {
  const inputs: SetupInputs = {
    ...{ setup: 's', env: { A: '1' }, files: read(['run.sh']), image: 'i', user: '1:1' },
    ...{ network: 'gateway', networkPresets: ['default'] },
  };
  const [file] = inputs.files;
  if (file === undefined) throw new Error('no file');
  const others: Partial<SetupInputs>[] = [
    { setup: 't' },
    { env: { A: '2' } },
    { image: 'j' },
    { user: '2:1' },
    { network: 'none' },
    { networkPresets: ['default', 'maven'] },
    { files: [] },
    { files: [{ ...file, path: 'x' }] },
    { files: [{ ...file, content: Buffer.from('x') }] },
    { files: [{ ...file, isExecutable: false }] },
  ];
  const addresses = [{}, ...others].map((other) => setupAddress({ ...inputs, ...other }));
  expect(new Set(addresses).size).toBe(11);
  expect(addresses.filter((address) => !/^[0-9a-f]{32}$/.test(address))).toEqual([]);
  expect(setupAddress(structuredClone({ ...inputs, files: [] }))).toBe(setupAddress({ ...inputs, files: [] }));
});
