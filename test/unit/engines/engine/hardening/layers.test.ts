import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readProbes } from '../../../../../src/engines/engine/hardening/probes.ts';
import { ENGINE_KINDS, RUNTIMES } from '../../../../../src/engines/engine/kinds.ts';

const page = (name: string): string => readFileSync(new URL(`../../../../../${name}`, import.meta.url), 'utf8');
const cells = (line: string): string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());

describe('docs/explanation/threat-model.md', () => {
  const [, table = ''] = page('docs/explanation/threat-model.md').split(/<!-- layers:.*-->|<!-- end -->/);
  const rows = table
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map(cells)
    .slice(1);

  it('names the attack and the test of each layer', () => {
    expect(rows.length).toBeGreaterThan(15);
    for (const [layer = '', stops = '', shown = ''] of rows) {
      expect(stops, layer).not.toBe('');
      expect(shown, layer).toMatch(/\.test\.ts/);
    }
  });

  it('names tests that exist', () => {
    const named = page('docs/explanation/threat-model.md').match(/test\/[\w/-]+\.test\.ts/g) ?? [];
    expect(named.length).toBeGreaterThan(5);
    for (const file of named) expect(page(file)).toMatch(/\b(?:it|test)[(.]/);
  });

  it('has as many layers as the README says', () => {
    const said = /(\d+) layers/.exec(page('README.md'))?.[1];
    expect(said).toBe(String(rows.length));
  });
});

it('docs/engines.md has a row for each kind of engine and runtime', () => {
  const rows = page('docs/engines.md')
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map(cells);
  for (const { name, holds, shown } of [...ENGINE_KINDS, ...Object.values(RUNTIMES)]) {
    expect(rows).toContainEqual([name, holds, shown]);
  }
});

describe('readProbes', () => {
  it('reads the table, and nothing else', () => {
    expect(readProbes('unshare-user\tseccomp\tstopped\tEPERM\n')).toEqual([
      { name: 'unshare-user', layer: 'seccomp', result: 'stopped', why: 'EPERM' },
    ]);
    for (const bad of ['a\tb\tfine\tc', '\x1b[31m\tseccomp\tstopped\tx', 'a b\tc\topen\td', 'cannot execute']) {
      expect(() => readProbes(bad)).toThrow('the probes printed an unexpected line');
    }
  });
});
