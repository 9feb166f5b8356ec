import { expect, it } from 'vitest';
import { allRules } from '../../../src/audit/catalogue.ts';
import { MASKED_RULES } from '../../../src/audit/general-rules/masked.ts';
import { REHEARSAL_RULES } from '../../../src/audit/general-rules/rehearsed.ts';
import { FILE_RULES } from '../../../src/audit/rules/all.ts';
import { auditFiles, isLoud } from './plant.ts';
import type { Row } from './rows.ts';
import { BOUNDARY_ROWS } from './rows-boundaries.ts';
import { CONTENT_ROWS, NOT_HERE } from './rows-content.ts';
import { GIT_NOT_HERE, GIT_ROWS } from './rows-git.ts';
import { LANGUAGE_ROWS } from './rows-languages.ts';
import { NAMED_ROWS, UNLISTED_SIBLINGS } from './rows-named.ts';
import { CATALOGUE, NEAR_ROWS } from './rows-near.ts';
import { SHELL_JS_ROWS } from './rows-shell-js.ts';

const ROWS: readonly Row[] = [
  ...GIT_ROWS,
  ...SHELL_JS_ROWS,
  ...LANGUAGE_ROWS,
  ...CONTENT_ROWS,
  ...NEAR_ROWS,
  ...NAMED_ROWS,
  ...BOUNDARY_ROWS,
];
const severityOf = new Map(allRules().map((rule) => [rule.id, rule.severity]));
/** Ordinary work does this too, so the findings are notes. */
const NOTED = new Set(['A-151', 'new-kind']);
/** The reason given for a harmless change of a file that is always shown. */
const HARMLESS = 'nothing in it that is known to run something';

it('finds everything that is planted, by the rule for it', () => {
  const silent = ROWS.filter(({ id, rule, danger, base }) => {
    const noteIsEnough = severityOf.get(rule) === 'note' || NOTED.has(id);
    const findings = auditFiles(danger, base).filter((finding) => finding.rule === rule);
    return !findings.some(({ severity }) => noteIsEnough || severity !== 'note');
  });
  expect(silent.map(({ id, rule }) => `${id} ${rule}`)).toEqual([]);
});

it('is quiet about the ordinary change next to it', () => {
  const loud = ROWS.flatMap(({ id, near, base }) =>
    (near === undefined ? [] : auditFiles(near, base))
      .filter(({ severity, detail }) => severity !== 'note' && !detail?.includes(HARMLESS))
      .map(({ rule, path, detail }) => `${id}: ${rule} ${path} ${detail}`),
  );
  expect(loud).toEqual([]);
  expect(ROWS.filter(({ near }) => near !== undefined).length).toBeGreaterThan(250);
});

/**
 * They need a session with masked files, or a rehearsal: masked.test.ts and test/unit/rehearsal show each, and what is near
 * it.
 */
const REPORTED = new Set([...MASKED_RULES, ...REHEARSAL_RULES].map(({ id }) => id));

it('trips every rule, and explains each kind of attack without a row', () => {
  const tripped = new Set(ROWS.flatMap(({ danger, base }) => auditFiles(danger, base).map(({ rule }) => rule)));
  expect([...severityOf.keys()].filter((rule) => !tripped.has(rule) && !REPORTED.has(rule))).toEqual([]);
  for (const [id, why] of Object.entries({ ...GIT_NOT_HERE, ...NOT_HERE })) {
    expect(ROWS.map((row) => row.id)).not.toContain(id);
    expect(why).toMatch(/\w/);
  }
});

it('has a near miss for every rule except those that report any change of a file', () => {
  const near = new Set(ROWS.filter((one) => one.near !== undefined).map(({ rule }) => rule));
  const always = new Set(
    FILE_RULES.filter(({ look }) => look.some(({ kind }) => kind === 'any' || kind === 'content')).map(({ id }) => id),
  );
  expect([...severityOf.keys()].filter((rule) => !near.has(rule) && !always.has(rule) && !REPORTED.has(rule))).toEqual(
    [],
  );
});

it('has every kind of attack of the catalogue: a row, or the reason that there is none', () => {
  const shown = new Set(ROWS.map(({ id }) => id.replace(/[a-z]$/, '')));
  const reasons = { ...GIT_NOT_HERE, ...NOT_HERE };
  expect(CATALOGUE.length).toBeGreaterThan(420);
  expect(CATALOGUE.filter((id) => !shown.has(id) && !(id in reasons))).toEqual([]);
});

// One of each family that no list names: the kind is caught, not the name.
it('catches variants that no list names', () => {
  const findings = auditFiles({
    '.brandnewagent/mcp/x.json': '{}',
    'brand-new-tool.config.mjs': 'x',
    '.brandnewrc.cjs': 'x',
    '.git/modules/x/hooks/pre-brandnew': '#!/bin/sh\n',
    '.git/config': '[brandnew]\n\tcommand = sh x\n',
    'deep/er/.husky/pre-brandnew': 'x',
    'a/b/CLAUDE.MD': 'x',
    '.config/brandnew.ts': 'x',
  });
  const spoken = new Set(findings.filter(({ severity }) => severity !== 'note').map(({ path }) => path));
  expect([...spoken].sort()).toEqual([
    '.brandnewagent/mcp/x.json',
    '.brandnewrc.cjs',
    '.config/brandnew.ts',
    '.git/config',
    '.git/modules/x/hooks/pre-brandnew',
    'a/b/CLAUDE.MD',
    'brand-new-tool.config.mjs',
    'deep/er/.husky/pre-brandnew',
  ]);
});

it.each([
  ['package.json', '{"devDependencies":{"a":"1"}}', '{"devDependencies":{"a":"2","b":"1"}}', 'b'],
  ['composer.json', '{"require":{"a/a":"1"}}', '{"require":{"a/a":"2","b/b":"1"}}', 'b/b'],
  [
    'Cargo.toml',
    '[dependencies]\na = "1"\n',
    '[dependencies]\na = "2"\n[dev-dependencies]\nb = { version = "1" }\n',
    'b',
  ],
  ['pyproject.toml', '[project]\ndependencies=["a>=1"]\n', '[project]\ndependencies=["a>=2", "b>=1"]\n', 'b'],
  ['pyproject.toml', '[dependency-groups]\nx=["a"]\n', '[dependency-groups]\nx=["a", "b"]\n', 'b'],
  ['pubspec.yaml', 'dependencies:\n  a: ^1\n', 'dependencies:\n  a: ^2\n  b: ^1\n', 'b'],
  [
    'DESCRIPTION',
    'Imports:\n    a,\n    c\n',
    'Imports:\n    a (>= 2),\n    c,\n    b (>= 1)\nDepends: R (>= 4.1)\n',
    'b',
  ],
  ['stack.yaml', 'extra-deps:\n- a-x-1.0\n', 'extra-deps:\n- a-x-1.1\n- b-y-2@rev:1\n', 'b-y'],
  ['requirements.txt', 'a==1\n', 'a==2\nb==1\n', 'b'],
  ['Gemfile', 'gem "a"\n', 'gem "a", "2"\ngem "b"\n', 'b'],
  [
    'go.mod',
    'module m\nrequire x.example/a v1.0.0\n',
    'module m\nrequire x.example/a v1.1.0\nrequire x.example/b v1.0.0\n',
    'x.example/b',
  ],
])('notes what is new among the dependencies, not another version: %s', (path, before, after, name) => {
  const noted = auditFiles({ [path]: [before, after] }).filter(({ rule }) => rule === 'new-dependency');
  expect(noted.map(({ severity, detail }) => [severity, detail])).toEqual([['note', name]]);
});

it('catches variants of earlier attempts', () => {
  expect(UNLISTED_SIBLINGS.filter((one) => !isLoud(one))).toEqual([]);
});

it('reports a file that does not parse as suspect', () => {
  for (const [path, text] of [
    ['package.json', '{"scripts":'],
    ['pyproject.toml', '[build-system\n'],
    ['compose.yaml', 'a: [1\n b: }'],
    ['package-lock.json', '{'],
  ] as const) {
    const [finding] = auditFiles({ [path]: ['{}', text] });
    expect(finding, path).toMatchObject({ severity: 'suspect' });
  }
});

it('keeps the order and shape of findings: the worst first, cleaned, the same for the same input', () => {
  const files = Object.assign({}, ...ROWS.slice(0, 120).map(({ danger }) => danger));
  const findings = auditFiles(files);
  expect(auditFiles(files)).toEqual(findings);
  const rank = { blocked: 0, suspect: 1, note: 2 };
  for (const [at, finding] of findings.entries()) {
    const next = findings[at + 1];
    if (next !== undefined) expect(rank[finding.severity]).toBeLessThanOrEqual(rank[next.severity]);
    expect(`${finding.title}${finding.why}${finding.detail ?? ''}`).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
  }
});
