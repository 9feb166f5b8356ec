import { expect, it } from 'vitest';
import { MECHANISMS } from '../../attacks/mechanisms/all.ts';
import type { Texts } from '../../attacks/mechanisms/mechanism.ts';
import { auditFiles } from './plant.ts';
import type { Files, Planted } from './rows.ts';

/** The files of an attack as changes of the project. */
function changesOf(base: Texts, attack: Texts): Files {
  const changed = Object.entries(attack).map(([path, after]): [string, Planted] => {
    const before = base[path];
    if (before !== undefined) return [path, [before, after]];
    return [path, after.startsWith('#!') ? { bytes: after, mode: 0o755 } : after];
  });
  return Object.fromEntries(changed);
}

// test/attacks/mechanisms.long.test.ts shows that each of them runs.
it.each(MECHANISMS)('reports what an ordinary command would run: $name', ({ base, attack, rule }) => {
  const loud = auditFiles(changesOf(base, attack), base).filter(({ severity }) => severity !== 'note');
  expect(loud.map((one) => one.rule)).toContain(rule);
});

it('has names that differ', () => {
  expect(new Set(MECHANISMS.map(({ name }) => name)).size).toBe(MECHANISMS.length);
});
