import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { auditFiles, readLines } from './plant.ts';
import type { Files, Row } from './rows.ts';

/**
 * A rule of what is plain, one a line: attacks of which every path is a finding (`held`: only these paths), among them
 * siblings that no list names, and ordinary changes without one.
 */
interface PlainRow {
  readonly name: string;
  readonly danger?: readonly Files[];
  readonly near?: readonly Files[];
  readonly base?: Row['base'];
  readonly held?: readonly string[];
}

const folder = new URL('./plain/', import.meta.url);
const loudIn = (files: Files, base: Row['base']) =>
  auditFiles(files, base).filter(({ severity }) => severity !== 'note');

describe.each(readdirSync(folder).filter((file) => file.endsWith('.jsonl')))('%s', (file) => {
  const rows = readLines<PlainRow>(new URL(file, folder));

  it('reports every path of each attack', () => {
    const silent = rows.flatMap(({ name, danger = [], base, held }) =>
      danger.flatMap((files) => {
        const loud = new Set<string>(loudIn(files, base).map(({ path }) => path));
        const missed = (held ?? Object.keys(files)).filter((path) => !loud.has(path));
        return missed.map((path) => `${name}: ${path} of ${JSON.stringify(files).slice(0, 200)}`);
      }),
    );
    expect(silent).toEqual([]);
  });

  it('is silent about each ordinary change', () => {
    const loud = rows.flatMap(({ name, near = [], base }) =>
      near.flatMap((files) =>
        loudIn(files, base).map(({ rule, path, detail }) => `${name}: ${rule} ${path} ${detail ?? ''}`),
      ),
    );
    expect(loud).toEqual([]);
  });
});
