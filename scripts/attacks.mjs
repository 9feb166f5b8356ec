// docs/attacks.md from test/attacks/catalogue.yaml, and the checks that its tests exist and ran.
//   node scripts/attacks.mjs REPORT…   vitest's JSON reports of a whole run or of a part
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync, Visitor } from 'rolldown/utils';
import { parse } from 'yaml';

/**
 * @typedef {object} Attack
 * @property {string} test `FILE#TITLE`: a file below test/, and the title of a test as its source spells it
 * @property {string} stops what stops it
 * @property {string[]} tries what the agent tries, one attack each
 */
/** @typedef {{ section: string, intro: string, attacks: Attack[] }} Section */
/** @typedef {{ name: string, assertionResults: { title: string, status: string, meta?: { skipReason?: string } }[] }} FileReport */

const root = path.dirname(import.meta.dirname);

/** @returns {Section[]} */
export function readCatalogue() {
  return parse(readFileSync(path.join(root, 'test/attacks/catalogue.yaml'), 'utf8'));
}

/** @param {string} test @returns {{ file: string, title: string }} `file` from the root of the repository */
function placeOf(test) {
  const at = test.indexOf('#');
  return { file: `test/${test.slice(0, at)}`, title: test.slice(at + 1) };
}

/** What a title has where its values differ from run to run: `%s`, `$name`, `${…}`. */
const VALUES = /\$\{[^}]*\}|%[a-z]|\$[a-z]\w*/gi;

/**
 * @param {Section[]} sections
 * @returns {string} docs/attacks.md
 */
export function drawAttacks(sections) {
  const count = sections.flatMap(({ attacks }) => attacks.flatMap(({ tries }) => tries)).length;
  const cell = (/** @type {string} */ text) => text.replaceAll('|', '\\|');
  const lines = [
    '# Attacks',
    '',
    '<!-- Written by npm run generate from test/attacks/catalogue.yaml. -->',
    '',
    `What a hostile agent may try, what stops it, and the test that tries it: ${count} attacks. The check after a test run (\`scripts/attacks.mjs\`) fails when a test of this list did not run or did not pass.`,
  ];
  for (const { section, intro, attacks } of sections) {
    lines.push('', `## ${section}`, '', intro, '', '| the agent tries to | stopped by | test |', '| --- | --- | --- |');
    for (const { test, stops, tries } of attacks) {
      const { file, title } = placeOf(test);
      const link = `[${cell(title.replace(VALUES, '…'))}](../${file})`;
      for (const one of tries) lines.push(`| ${cell(one)} | ${cell(stops)} | ${link} |`);
    }
  }
  return `${lines.join('\n')}\n`;
}

/**
 * The titles of the tests in a file, as its source spells them.
 * @param {string} file @param {string} text
 * @returns {string[]}
 */
export function titlesIn(file, text) {
  /** @type {string[]} */
  const titles = [];
  new Visitor({
    CallExpression({ callee, arguments: [title] }) {
      if (!/^(?:it|test)\b/.test(text.slice(callee.start, callee.end))) return;
      if (title?.type === 'Literal' && typeof title.value === 'string') titles.push(title.value);
      else if (title?.type === 'TemplateLiteral') titles.push(text.slice(title.start + 1, title.end - 1));
    },
  }).visit(parseSync(file, text).program);
  return titles;
}

/**
 * @param {Section[]} sections
 * @returns {string[]} one line for each test that no file has
 */
export function missingTests(sections) {
  return sections.flatMap(({ attacks }) =>
    attacks.flatMap(({ test }) => {
      const { file, title } = placeOf(test);
      return titlesIn(file, readFileSync(path.join(root, file), 'utf8')).includes(title) ? [] : [`${file}: ${title}`];
    }),
  );
}

/**
 * Tests of the list that a run should have run, and did not, or that did not pass. A file that was no part of the run
 * is not looked at.
 * @param {Section[]} sections @param {FileReport[]} reports
 * @returns {string[]} one line for each
 */
export function unrunTests(sections, reports) {
  return sections.flatMap(({ attacks }) =>
    attacks.flatMap(({ test }) => {
      const { file, title } = placeOf(test);
      const inFile = reports.filter(({ name }) => name.endsWith(`/${file}`));
      if (inFile.length === 0) return [];
      const pattern = new RegExp(
        `^${title
          .split(VALUES)
          .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
          .join('.*')}$`,
        's',
      );
      const found = inFile.flatMap(({ assertionResults }) => assertionResults).filter((one) => pattern.test(one.title));
      if (found.length === 0) return [`${file}: ${title}: did not run`];
      return found
        .filter(({ status }) => status !== 'passed')
        .map(({ status, meta }) => `${file}: ${title}: ${status}${meta?.skipReason ? ` (${meta.skipReason})` : ''}`);
    }),
  );
}

if (process.argv[1] === import.meta.filename) {
  const reports = process.argv.slice(2).flatMap((file) => JSON.parse(readFileSync(file, 'utf8')).testResults);
  const sections = readCatalogue();
  const unrun = unrunTests(sections, reports);
  const files = new Set(reports.map(({ name }) => path.relative(root, name)));
  const all = sections.flatMap(({ attacks }) => attacks);
  const covered = all.filter(({ test }) => files.has(placeOf(test).file)).length;
  process.stdout.write(
    `attacks: ${covered} of ${all.length} tests were part of this run, ${unrun.length} did not pass\n`,
  );
  for (const line of unrun) process.stdout.write(`attack not shown: ${line}\n`);
  process.exitCode = unrun.length === 0 ? 0 : 1;
}
