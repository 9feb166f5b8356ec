import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { allRules } from '../../../src/audit/catalogue.ts';
import { rulesDocument } from './rules-document.ts';

it('has every rule in docs/audit-rules.md as it is now (vitest -u writes it)', async () => {
  await expect(rulesDocument()).toMatchFileSnapshot('../../../docs/audit-rules.md');
});

it('gives every rule an id of its own and all that the issue asks of a rule', () => {
  const rules = allRules();
  expect(rules.length).toBeGreaterThan(190);
  expect(rules.map(({ id }) => id).filter((id, at, all) => all.indexOf(id) !== at)).toEqual([]);
  for (const rule of rules) {
    expect(rule.id).toMatch(/^[a-z0-9-]+$/);
    for (const text of [rule.title, rule.trigger, rule.matches, rule.why, rule.source])
      expect(text.trim()).not.toBe('');
    expect(rule.why, rule.id).toMatch(/^\S.*\.$/);
  }
});

it('lists every rule that the code can give', () => {
  const known = new Set(allRules().map(({ id }) => id));
  const folder = new URL('../../../src/audit/', import.meta.url);
  const given = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => [
      ...readFileSync(new URL(file, folder), 'utf8').matchAll(
        /(?:\brule: |\bid: |say\(\s*|hit\(\s*)'([a-z][a-z0-9]*-[a-z0-9-]+)'/g,
      ),
    ])
    .map((match) => match[1]);
  expect(given.length).toBeGreaterThan(180);
  expect(given.filter((id) => id !== undefined && !known.has(id))).toEqual([]);
});
