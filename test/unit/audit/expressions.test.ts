import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'oxc-parser';
import { analyse } from 'scslre';
import { describe, expect, it, vi } from 'vitest';

/**
 * The agent writes the texts that these expressions read. One that is not linear stops the audit for minutes on a file
 * of blank lines, so each is analysed here, whatever its input is. Nothing is timed.
 */

interface Expression {
  readonly source: string;
  readonly flags: string;
}

const SOURCE = new URL('../../../src/', import.meta.url).pathname;
/** What reads texts of any length: the audit, and the search for the secrets of a file. */
const READERS = ['audit', 'core/secrets/assignments.ts', 'core/secrets/values.ts', 'core/secrets/names.ts'];

const filesBelow = (path: string): string[] =>
  statSync(path).isFile()
    ? [path].filter((file) => file.endsWith('.ts'))
    : readdirSync(path).flatMap((name) => filesBelow(join(path, name)));

/** The parts of a syntax tree's node that are read here. */
interface Node {
  readonly type?: string;
  readonly name?: string;
  readonly regex?: { readonly pattern: string; readonly flags: string };
  readonly object?: Node;
  readonly property?: Node;
  readonly callee?: Node;
  readonly id?: Node;
}

/** The expressions of a file that are used as they are written: the parts of a longer one are judged within that. */
function literalsOf(path: string): Expression[] {
  const parts = new Set<string>();
  const found: { expression: Expression; name: string | undefined }[] = [];
  const visit = (node: unknown, name: string | undefined, isPart: boolean): void => {
    if (Array.isArray(node)) for (const one of node) visit(one, name, isPart);
    if (typeof node !== 'object' || node === null || Array.isArray(node)) return;
    const { type, regex, object, property, callee, id } = node as Node;
    if (type === 'Literal' && regex !== undefined) {
      if (!isPart) found.push({ expression: { source: regex.pattern, flags: regex.flags }, name });
      return;
    }
    const isSource = type === 'MemberExpression' && property?.name === 'source';
    if (isSource && object?.name !== undefined) parts.add(object.name);
    const isJoined = type === 'CallExpression' && /^(wholeLine|anyOf)$/.test(callee?.name ?? '');
    const own = type === 'VariableDeclarator' ? id?.name : name;
    for (const child of Object.values(node)) visit(child, own, isSource || isJoined);
  };
  visit(parseSync(path, readFileSync(path, 'utf8')).program, undefined, false);
  return found.filter(({ name }) => name === undefined || !parts.has(name)).map(({ expression }) => expression);
}

/** The expressions that modules put together from parts while they are loaded. */
async function constructed(paths: readonly string[]): Promise<Expression[]> {
  const made: Expression[] = [];
  const { RegExp: original } = globalThis;
  vi.resetModules();
  globalThis.RegExp = new Proxy(original, {
    construct(target, [source, flags]: [string | RegExp, string?]) {
      const regex = new target(source, flags);
      made.push({ source: regex.source, flags: regex.flags });
      return regex;
    },
  });
  try {
    for (const path of paths) await import(path);
    const { warmUp } = await import('../../../src/audit/warm-up.ts');
    for (const _ of warmUp({ paths: [], content: () => undefined, entry: () => undefined } as never));
  } finally {
    globalThis.RegExp = original;
    vi.resetModules();
  }
  return made;
}

/** The parts of an expression that cost more than a constant for each character, as they are written. */
function costly({ source, flags }: Expression): string[] {
  const { reports } = analyse({ source, flags }, { maxReports: 8 });
  return reports.map((report) =>
    report.type === 'Trade' ? `${report.startQuant.raw} and ${report.endQuant.raw}` : report.quant.raw,
  );
}

describe('expressions that read texts of an agent and of a project', () => {
  const paths = READERS.flatMap((name) => filesBelow(join(SOURCE, name)));

  it.each([
    [String.raw`(?:^|;)\s*([a-z]+)`, 'gm', 'blank lines'],
    [String.raw`^\s*"?\s*x`, '', 'two quantifiers that share blanks'],
    [String.raw`(?:\s|//[^\n]*)*:`, 'y', 'a comment inside a comment'],
    ['/+$', '', 'each place is a beginning'],
  ])('recognises %s with the flags %j: %s', (source, flags) => {
    expect(costly({ source, flags })).not.toEqual([]);
  });

  it('are linear in the length of what they read', async () => {
    const all = [...paths.flatMap(literalsOf), ...(await constructed(paths))];
    expect(all.length).toBeGreaterThan(1000);
    const unique = [...new Map(all.map((one) => [`${one.flags} ${one.source}`, one])).values()];
    const slow = unique.flatMap((one) => {
      const parts = costly(one);
      return parts.length === 0 ? [] : [`/${one.source}/${one.flags}: ${parts.join('; ')}`];
    });
    expect(slow).toEqual([]);
  });
});
