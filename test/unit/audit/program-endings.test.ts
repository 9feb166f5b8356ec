import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { expandBraces, matcherOf, splitGlobs } from '../../../src/audit/formats/glob.ts';
import { FILE_RULES } from '../../../src/audit/rules/all.ts';
import { isLoud } from './plant.ts';

/** By rule: new programs that no rule finds. */
const gapsFile = new URL('./program-gaps.yaml', import.meta.url);
const GAPS = (parse(readFileSync(gapsFile, 'utf8')) ?? {}) as Readonly<Record<string, readonly string[]>>;
const HEAD = `# New programs under names that a rule leaves open, and that no rule finds. The test fails for one that is missing here, and
# for one that is listed and found: remove its line. After a change of many:
# WRITE_PROGRAM_GAPS=1 npx vitest run --project unit test/unit/audit/program-endings.test.ts
`;

/** A harmless program of each language. */
const PROGRAMS: Readonly<Record<string, string>> = {
  '.js': 'module.exports = {};\n',
  '.cjs': 'module.exports = {};\n',
  '.mjs': 'export default {};\n',
  '.ts': 'export default {};\n',
  '.py': 'value = 1\n',
  '.sh': '#!/bin/sh\ntrue\n',
  '.rb': 'value = 1\n',
};

/** Names that a glob with an open ending matches, one for each language; none where the ending is fixed. */
function programsUnder(glob: string): string[] {
  const last = glob.slice(glob.lastIndexOf('/') + 1);
  if (!/\*$/.test(last)) return [];
  const folders = glob
    .slice(0, glob.length - last.length)
    .replace(/\*\*\//g, '')
    .replace(/\*/g, 'x')
    .replace(/\?/g, 'y');
  const stem = last
    .replace(/\.?\*+$/, '')
    .replace(/\*/g, 'x')
    .replace(/\?/g, 'y');
  return Object.keys(PROGRAMS).map((ending) => `${folders}${stem === '' ? 'x' : stem}${ending}`.replace(/^\//, ''));
}

it('finds a new program under every name that a rule leaves open', () => {
  const silent: Record<string, string[]> = {};
  let count = 0;
  for (const rule of FILE_RULES) {
    if (rule.files.includes('*') || rule.lastResort === true) continue;
    const mine = matcherOf(rule.files);
    const paths = splitGlobs(rule.files).named.flatMap(expandBraces).flatMap(programsUnder);
    for (const path of new Set(paths)) {
      if (!mine(path)) continue;
      count++;
      const program = PROGRAMS[path.slice(path.lastIndexOf('.'))] ?? '';
      if (!isLoud({ [path]: program })) silent[rule.id] = [...(silent[rule.id] ?? []), path];
    }
  }
  expect(count).toBeGreaterThan(1000);
  if (process.env['WRITE_PROGRAM_GAPS'] === '1') writeFileSync(gapsFile, HEAD + stringify(silent, { indentSeq: true }));
  expect(silent).toEqual(GAPS);
});
