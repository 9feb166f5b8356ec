import { expect, it } from 'vitest';
import { CELLS } from '../../machines/cells.mjs';
import { CHECKS } from '../../machines/checks.mjs';
import { type CellResult, machines } from './machines.ts';

const rowOf = (text: string, cell: string): string =>
  text.split('\n').find((line) => line.includes(`(\`${cell}\`)`)) ?? '';

const allHeld = CHECKS.map(({ name }) => ({ name, held: true, detail: '9 attacks: 9 stopped.' }));
const result = (checks: CellResult['checks']): CellResult => ({
  date: '2026-01-02',
  versions: ['Docker 99.1'],
  checks,
});

it('the table of machines: each cell has a row, and no row claims what its result does not have', () => {
  const results: Readonly<Record<string, CellResult>> = {
    docker28: result(allHeld),
    trixie: result(allHeld.map((check) => (check.name === 'probe' ? { ...check, held: false } : check))),
    podman: result(allHeld.slice(0, -1)),
    btrfs: result([
      ...allHeld.slice(0, -1),
      { name: 'gc', held: false, detail: 'no x in:\n[sandbox] ERROR: disk full\n' },
    ]),
    arm64: result([...allHeld.slice(0, -1), { name: 'gc', held: true, detail: 'refused: too far away' }]),
  };
  const text = machines((cell) => results[cell]);
  expect(text.split('\n')).toHaveLength(Object.keys(CELLS).length + 2);
  expect(rowOf(text, 'docker28')).toMatch(
    /Docker 99\.1 \| 2026-01-02 \| every check held\. 9 attacks: 9 stopped\. \|$/,
  );
  expect(rowOf(text, 'trixie')).toMatch(/\| held: doctor; .*\. did not hold: probe \|$/);
  expect(rowOf(text, 'podman')).toMatch(/\| every check that was run held\. not run: gc\. 9 attacks/);
  expect(rowOf(text, 'btrfs')).toMatch(/\. did not hold: gc \(disk full\)\. 9 attacks/);
  expect(rowOf(text, 'arm64')).toMatch(/\| every check held\. gc refused: too far away\. 9 attacks/);
  expect(rowOf(text, 'share')).toMatch(/\| {2}\| {2}\| not seen(: .+)? \|$/);
});
