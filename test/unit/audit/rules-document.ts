import { allRules } from '../../../src/audit/catalogue.ts';

const HEAD = `# The rules of the audit

Generated from the rules by \`npm run generate\`; \`run-claude audit --rules\` prints the same. [audit.md](audit.md) explains how the rules work together.

| severity | effect |
| -------- | ------ |
| blocked | the change is never applied |
| suspect | the change is applied only when you accept it by name |
| note | the finding is reported, without further effect |

A configuration may change a severity that is not blocked. Globs match at any depth and in any letter case; a glob that begins with \`/\` matches the whole path.
`;

/** The text of docs/audit-rules.md, from the rules. */
export function rulesDocument(): string {
  const rules = allRules();
  const out = [HEAD];
  for (const family of new Set(rules.map((rule) => rule.family))) {
    out.push(`## ${family}\n`);
    for (const { id, title, severity, trigger, matches, why, source } of rules.filter(
      (rule) => rule.family === family,
    )) {
      out.push(`### ${id}\n\n${title}. **${severity}**. ${why}\n`);
      out.push(`- Triggered by: ${trigger}`, `- Judges: ${matches}`, `- Source: ${source}\n`);
    }
  }
  return out.join('\n');
}
