import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { allRules } from '../../../src/audit/catalogue.ts';
import { GENERAL_RULES } from '../../../src/audit/general-rules/all.ts';
import { SUSPECT_FILE } from '../../../src/audit/judges/rule.ts';
import { auditFiles } from './plant.ts';
import { CONTENT_ROWS } from './rows-content.ts';
import { GIT_ROWS } from './rows-git.ts';
import { NAMED_ROWS } from './rows-named.ts';
import { SHELL_JS_ROWS } from './rows-shell-js.ts';
import { rulesDocument } from './rules-document.ts';

const ALL_ROWS = [...GIT_ROWS, ...SHELL_JS_ROWS, ...CONTENT_ROWS, ...NAMED_ROWS];

it('has every rule in docs/audit-rules.md as it is now (vitest -u writes it)', async () => {
  await expect(rulesDocument()).toMatchFileSnapshot('../../../docs/audit-rules.md');
});

it('gives every rule a unique id and all its texts', () => {
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
  const given = sourcesOf().flatMap(({ text }) => [
    ...text.matchAll(/(?:\brule: |\bid: |firstOf\(\s*)'([a-z][a-z0-9-]*)'/g),
  ]);
  expect(given.length).toBeGreaterThan(180);
  expect(given.map((match) => match[1]).filter((id) => id !== undefined && !known.has(id))).toEqual([]);
});

it('has every case that a look names in a rule', () => {
  const known = new Set(GENERAL_RULES.flatMap(({ cases = {} }) => Object.keys(cases)));
  const named = sourcesOf()
    .filter(({ file }) => !file.startsWith('general-rules/'))
    .flatMap(({ text }) => [...text.matchAll(/\bcase: (?:[^,\n]*\? )?'([a-z-]+)'(?: : '([a-z-]+)')?/g)])
    .flatMap(([, ...names]) => names.filter((name) => name !== undefined));
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});

it('has titles and reasons of rules only in the tables of rules', () => {
  const tables = /^(general-rules|rules)\//;
  const elsewhere = sourcesOf().filter(
    ({ file, text }) => !tables.test(file) && /\b(title|why):\s*(['"]|`(?!\$\{))/.test(text),
  );
  expect(elsewhere.map(({ file }) => file)).toEqual([]);
  const words = new Set(
    allRules()
      .flatMap(({ id, title, why }) => [title, why, ...casesOf(id)])
      .concat(['created', 'modified', 'deleted'].map((done) => `${SUSPECT_FILE} ${done}`)),
  );
  const spoken = ALL_ROWS.flatMap(({ danger, base }) => auditFiles(danger, base)).flatMap(({ title, why }) => [
    title.replace(/ \(removed\)$/, ''),
    why,
  ]);
  expect(spoken.length).toBeGreaterThan(500);
  expect(spoken.filter((text) => !words.has(text))).toEqual([]);
});

function casesOf(id: string): string[] {
  const cases = GENERAL_RULES.find((rule) => rule.id === id)?.cases ?? {};
  return Object.values(cases).flatMap(({ title, why }) => [title ?? '', why ?? '']);
}

function sourcesOf(): { readonly file: string; readonly text: string }[] {
  const folder = new URL('../../../src/audit/', import.meta.url);
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => ({ file, text: readFileSync(new URL(file, folder), 'utf8') }));
}
