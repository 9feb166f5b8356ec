import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync, Visitor } from 'rolldown/utils';
import { describe, expect, it } from 'vitest';
import { drawSuites, readModules, untestedFiles } from '../../../scripts/suites.mjs';
import { SLOW } from '../../support/time-limits.ts';

const root = path.resolve(import.meta.dirname, '../../..');
// What is deleted and not yet committed is still listed.
const texts = readModules(root);
const tests = [...texts.keys()].filter((file) => file.endsWith('.test.ts'));

describe('the suites', () => {
  it('of each folder are in test/suites.md (npm run generate)', () => {
    expect(readFileSync(path.join(root, 'test/suites.md'), 'utf8')).toBe(drawSuites(texts.keys()));
  });

  it('that are short test every file of src/ with a function', () => {
    expect(untestedFiles(texts), 'write or move a suite: CONTRIBUTING.md, "Find the place"').toEqual([]);
  });
});

describe('a file of src/', () => {
  const FILE = 'src/audit/rules/one.ts';
  const planted = (...suites: readonly [file: string, text: string][]) =>
    untestedFiles(
      new Map([
        [FILE, 'export const one = () => 1;'],
        ['src/audit/all.ts', "export * from './rules/one.ts';"],
        ...suites,
      ]),
    );

  it.each([
    ['a suite of its folder loads it', 'test/unit/audit/rules/rows.test.ts', "import '../../../../src/audit/all.ts';"],
    ['a suite of a folder above loads it', 'test/unit/audit/rows.test.ts', "import '../../../src/audit/all.ts';"],
    ['a suite imports it', 'test/engine/other/x.test.ts', "import '../../../src/audit/rules/one.ts';"],
    ['a suite of its folder drives the command', 'test/e2e/audit/rules/x.test.ts', ''],
  ])('is tested where %s', (_, suite, text) => {
    expect(planted([suite, text])).toEqual([]);
    expect(planted([suite.replace('.test.ts', '.long.test.ts'), text])).toEqual([FILE]);
  });

  it.each([
    [
      'a suite of another folder loads it through others',
      'test/unit/cli/x.test.ts',
      "import '../../../src/audit/all.ts';",
    ],
    ['a suite that drives the command is of a folder above', 'test/e2e/audit/x.test.ts', ''],
    [
      'a suite imports its types alone',
      'test/unit/cli/x.test.ts',
      "import type { A } from '../../../src/audit/rules/one.ts';",
    ],
  ])('is not tested where %s', (_, suite, text) => {
    expect(planted([suite, text])).toEqual([FILE]);
  });

  it('without a function needs no suite', () => {
    expect(untestedFiles(new Map([['src/core/limit.ts', 'export const LIMIT = 3;']]))).toEqual([]);
  });
});

describe('a test', () => {
  it('has an exception from the time limit only for a file that exists', () => {
    expect(Object.keys(SLOW).filter((file) => !tests.includes(file))).toEqual([]);
  });

  it('is never skipped without a reason, and never runs alone', () => {
    const switches = /\b(?:it|test|describe)(?:\.\w+)*\.(?:skip|skipIf|runIf|todo|only|fails)\b|\bskip\(\s*\)/;
    expect(tests.filter((file) => switches.test(texts.get(file) ?? ''))).toEqual([]);
  });

  it('does not return early: what did not run must not count as passed', () => {
    expect(tests.flatMap((file) => earlyReturns(file, texts.get(file) ?? ''))).toEqual([]);
  });

  it.each([
    ["it('a', () => { if (x) return; expect(1).toBe(1); });", 1],
    ["it.each([1])('a', async () => { if (x) { return; } });", 1],
    ["it('a', () => { list.map((one) => { if (one) return 1; return 2; }); });", 0],
    ["it('a', () => expect(1).toBe(1));", 0],
  ])('%s: %i early returns', (text, count) => {
    expect(earlyReturns('planted.ts', text)).toHaveLength(count);
  });
});

type Node = { readonly type: string; readonly start: number } & Record<string, unknown>;

/** `return` in the function of a test itself, as `file:line`; not in functions inside it. */
function earlyReturns(file: string, text: string): string[] {
  const found: string[] = [];
  const bodies: unknown[] = [];
  const returns: { readonly start: number; readonly owner: unknown }[] = [];
  const owners: unknown[] = [];
  const enter = (node: unknown): void => void owners.push(node);
  const leave = (): void => void owners.pop();
  new Visitor({
    CallExpression(node) {
      if (isTestCall(node.callee as unknown as Node)) bodies.push(...node.arguments);
    },
    ReturnStatement: ({ start }) => void returns.push({ start, owner: owners.at(-1) }),
    FunctionDeclaration: enter,
    FunctionExpression: enter,
    ArrowFunctionExpression: enter,
    'FunctionDeclaration:exit': leave,
    'FunctionExpression:exit': leave,
    'ArrowFunctionExpression:exit': leave,
  }).visit(parseSync(file, text).program);
  for (const { start, owner } of returns) {
    if (bodies.includes(owner)) found.push(`${file}:${text.slice(0, start).split('\n').length}`);
  }
  return found;
}

/** `it(…)`, `it.each(…)(…)`. */
function isTestCall(callee: Node): boolean {
  if (callee.type === 'Identifier') return callee['name'] === 'it' || callee['name'] === 'test';
  const inner = callee['callee'] ?? callee['object'] ?? callee['tag'];
  return inner !== undefined && isTestCall(inner as Node);
}
