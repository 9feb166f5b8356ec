import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { toolHints } from '../../../../src/session/plan/tool-hints.ts';

const hints = (files: Readonly<Record<string, string>>, packages: readonly string[] = []): string[] =>
  toolHints({ files: new Map(Object.entries(files)), packages });

it('names the tools that the image does not have, and the package that has them', () => {
  const text = '# tools\nruby 3.2.2\nnodejs 22.1.0\npython 3.11.4\nterraform 1.5\nunknown-tool 1\nelixir\n';
  expect(hints({ '.tool-versions': text })).toEqual([
    '.tool-versions names ruby 3.2.2, which the image does not have: packages = ["ruby"] in [environment] adds Debian\'s',
    '.tool-versions names terraform 1.5, which the image does not have: use setup or --image for it',
    '.tool-versions names elixir, which the image does not have: packages = ["elixir"] in [environment] adds Debian\'s',
  ]);
  expect(hints({ '.tool-versions': 'ruby 3.2.2' }, ['ruby'])).toEqual([]);
});

it('reads the files of single tools', () => {
  expect(hints({ '.nvmrc': 'v18.2\n' })).toEqual(['.nvmrc names node v18.2; the image has 22']);
  expect(hints({ '.nvmrc': '22', '.python-version': '3.11.9' })).toEqual([]);
  expect(hints({ '.nvmrc': 'lts/*' })).toEqual([]);
  expect(hints({ '.python-version': '3.12' })).toEqual(['.python-version names python 3.12; the image has 3.11']);
  for (const text of ['[toolchain]\nchannel = "1.75"\n', '1.75\n'])
    expect(hints({ 'rust-toolchain': text })[0]).toContain('rust 1.75');
});

it('prints no other word of the files', () => {
  expect(hints({ '.tool-versions': 'ruby \u001b[2Jx\n\u001b[2J 1\nconstructor 1\n__proto__ 1' })).toEqual([
    '.tool-versions names ruby, which the image does not have: packages = ["ruby"] in [environment] adds Debian\'s',
  ]);
});

it('knows the version of Node that is pinned', () => {
  const pins = JSON.parse(readFileSync('images/pins.json', 'utf8')) as {
    packages: Record<string, { file: string; version: string }[]>;
    debian: { release: string };
  };
  const node = pins.packages['amd64']?.find(({ file }) => file === 'node.tgz')?.version ?? '';
  expect(hints({ '.nvmrc': node })).toEqual([]);
  // Its Python is 3.11.
  expect(pins.debian.release).toBe('bookworm');
});
