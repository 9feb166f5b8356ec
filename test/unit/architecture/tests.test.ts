import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync, Visitor } from 'rolldown/utils';
import { describe, expect, it } from 'vitest';
import { arrowsOf, readImports } from '../../../scripts/imports.mjs';
import { drawSuites, readModules } from '../../../scripts/suites.mjs';
import { SLOW } from '../../support/time-limits.ts';
import { TESTED_BY } from './tested-by.ts';

const root = path.resolve(import.meta.dirname, '../../..');
// What is deleted and not yet committed is still listed.
const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'src', 'test'], {
  cwd: root,
  encoding: 'utf8',
});
const texts = new Map(
  listed
    .split('\n')
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => {
      try {
        return [[file, readFileSync(path.join(root, file), 'utf8')] as const];
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
        throw error;
      }
    }),
);
const sources = [...texts.keys()].filter((file) => file.startsWith('src/'));
const tests = [...texts.keys()].filter((file) => file.endsWith('.test.ts'));

/** A file that does something: it has a function. Types, tables and constants have no test of their own. */
function hasLogic(file: string): boolean {
  let isFound = false;
  const found = (): void => {
    isFound = true;
  };
  const { program } = parseSync(file, texts.get(file) ?? '');
  new Visitor({
    FunctionDeclaration: found,
    FunctionExpression: found,
    ArrowFunctionExpression: found,
  }).visit(program);
  return isFound;
}

const ownTest = (file: string): string => file.replace(/^src\//, 'test/unit/').replace(/\.ts$/, '.test.ts');
const withoutOwnTest = sources.filter((file) => hasLogic(file) && !texts.has(ownTest(file)));
/** The row of a file, else of its folder. */
const rowOf = (file: string): string => (file in TESTED_BY ? file : path.posix.dirname(file));

describe('the tests of a source file', () => {
  /** A program that a test starts is named by its path. */
  const programsOf = (file: string, text: string): string[] =>
    [...text.matchAll(/'(\.[^']*-program\.ts)'/g)].map(([, name = '']) =>
      path.posix.join(path.posix.dirname(file), name),
    );
  const importsOf = new Map([...texts].map(([file, text]) => [file, programsOf(file, text)]));
  const sourcesRead = new Map([...texts].map(([file, text]) => [file, readImports(file, text)]));
  for (const { from, to, isType } of arrowsOf(sourcesRead)) if (!isType) importsOf.get(from)?.push(to);

  /** Everything that a file loads, through others too. */
  function reachOf(file: string, seen = new Set<string>()): ReadonlySet<string> {
    if (!seen.has(file)) {
      seen.add(file);
      for (const to of importsOf.get(file) ?? []) reachOf(to, seen);
    }
    return seen;
  }

  it('have its name, or are named for its folder', () => {
    expect(withoutOwnTest.filter((file) => TESTED_BY[rowOf(file)] === undefined)).toEqual([]);
  });

  it('reach it: a unit test that is named imports it, or a test of the built command is named', () => {
    const unreached = withoutOwnTest.filter((file) =>
      (TESTED_BY[rowOf(file)] ?? []).every((test) => test.startsWith('unit/') && !reachOf(`test/${test}`).has(file)),
    );
    expect(unreached).toEqual([]);
  });

  it('exist, and every row is needed', () => {
    const named = Object.values(TESTED_BY).flat();
    expect(named.filter((test) => !tests.includes(`test/${test}`))).toEqual([]);
    expect(Object.keys(TESTED_BY).filter((row) => !withoutOwnTest.some((file) => rowOf(file) === row))).toEqual([]);
  });
});

it('test/suites.md is current (npm run generate)', () => {
  expect(readFileSync(path.join(root, 'test/suites.md'), 'utf8')).toBe(drawSuites(readModules(root).keys()));
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
