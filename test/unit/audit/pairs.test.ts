import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { auditFiles, readLines } from './plant.ts';
import type { Files, Row } from './rows.ts';

/** One line of a file: what must be held, and the ordinary change that looks most like it. */
interface Pair {
  readonly name: string;
  readonly danger?: Files;
  readonly near?: Files;
  readonly base?: Row['base'];
}

const folder = new URL('./pairs/', import.meta.url);
const families = readdirSync(folder).filter((file) => file.endsWith('.jsonl'));

/** The planted paths without a finding that the user has to answer. */
const silentPaths = ({ danger = {}, base }: Pair): string[] => {
  const loud = new Set(
    auditFiles(danger, base)
      .filter(({ severity }) => severity !== 'note')
      .map(({ path }) => path as string),
  );
  return Object.keys(danger).filter((path) => !loud.has(path));
};

describe.each(families)('dangers and their near misses: %s', (file) => {
  const pairs = readLines<Pair>(new URL(file, folder));

  it('holds back every path of each danger', () => {
    const silent = pairs.flatMap((pair) => silentPaths(pair).map((path) => `${pair.name}: ${path}`));
    expect(silent).toEqual([]);
    expect(pairs.some(({ danger }) => danger !== undefined)).toBe(true);
  });

  it('is quiet about each near miss', () => {
    const loud = pairs.flatMap(({ name, near = {}, base }) =>
      auditFiles(near, base)
        .filter(({ severity }) => severity !== 'note')
        .map(({ rule, path, detail }) => `${name}: ${rule} ${path} ${detail ?? ''}`),
    );
    expect(loud).toEqual([]);
    expect(pairs.some(({ near }) => near !== undefined)).toBe(true);
  });
});
