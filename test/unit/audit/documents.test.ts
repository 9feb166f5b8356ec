import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { allRules } from '../../../src/audit/catalogue.ts';

const HEAD = `# The rules of the audit

Made from the rules themselves; \`run-claude audit --rules\` prints the same. [audit.md](audit.md) tells how they work together.

blocked: never applied. suspect: needs a yes by name. note: said, nothing more. A configuration may change a severity that is not blocked. Globs match at any depth, without regard to letter case; one that begins with \`/\` is the whole path.
`;

/** docs/audit-rules.md as the rules say it. */
function rulesDocument(): string {
  const rules = allRules();
  const out = [HEAD];
  for (const family of new Set(rules.map((rule) => rule.family))) {
    out.push(`## ${family}\n`);
    for (const { id, title, severity, trigger, matches, why, source } of rules.filter(
      (rule) => rule.family === family,
    )) {
      out.push(`### ${id}\n\n${title}. **${severity}**. ${why}\n`);
      out.push(`- Runs with: ${trigger}`, `- Looks at: ${matches}`, `- Source: ${source}\n`);
    }
  }
  return out.join('\n');
}

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
