import { allRules } from '../../../src/audit/catalogue.ts';

const HEAD = `# The rules of the audit

Made from the rules themselves; \`run-claude audit --rules\` prints the same. [audit.md](audit.md) tells how they work together.

blocked: never applied. suspect: needs a yes by name. note: said, nothing more. A configuration may change a severity that is not blocked. Globs match at any depth, without regard to letter case; one that begins with \`/\` is the whole path.
`;

/** docs/audit-rules.md as the rules say it. */
export function rulesDocument(): string {
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
