import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readPage } from '../../support/markdown.ts';

const MAX_FILES = 5;
/** Recipes that need more, with their number: it only falls. */
const MORE_FILES: ReadonlyMap<string, number> = new Map([['an-option-of-a-session', 7]]);
const root = path.resolve(import.meta.dirname, '../../..');
const [summary = '', ...sections] = readPage('docs/internals/changing-the-code.md').split(/^## /m);

/** A recipe's row in the table at the top. */
interface Row {
  readonly anchor: string;
  readonly edited: number;
  readonly generated: number;
}

const rows: readonly Row[] = [...summary.matchAll(/^\| \[[^\]]+\]\(#([\w-]+)\) \| (\d+) \| ?(\d*) \|/gm)].map(
  ([, anchor = '', edited, generated]) => ({ anchor, edited: Number(edited), generated: Number(generated) }),
);

/** The steps of the section that a row links to. */
function stepsOf({ anchor }: Row): readonly string[] {
  const section = sections.find((text) => text.split('\n')[0]?.toLowerCase().replaceAll(' ', '-') === anchor);
  return (section ?? '').split('\n').filter((line) => line.startsWith('- '));
}

it('has the nine changes that a newcomer makes', () => {
  expect(rows).toHaveLength(9);
  expect(rows.map((row) => stepsOf(row).length > 0)).not.toContain(false);
});

describe.each(rows)('the recipe for $anchor', (row) => {
  const steps = stepsOf(row);
  const most = MORE_FILES.get(row.anchor) ?? MAX_FILES;

  it(`edits at most ${most} files by hand, as many as the table says`, () => {
    // A step that links to another recipe is counted there.
    const edits = steps.filter((step) => /^- (Edit|Add) /.test(step) && !step.includes('](#'));
    expect(edits).toHaveLength(row.edited);
    expect(row.edited).toBeLessThanOrEqual(most);
  });

  it('names the generated files that the table counts', () => {
    const generated = steps
      .filter((step) => step.startsWith('- Generated: '))
      .flatMap((step) => step.match(/`[^`]+`/g));
    expect(generated).toHaveLength(row.generated);
  });

  it('names only files that exist', () => {
    const names = steps.flatMap((step) => [...step.matchAll(/`((?:src|docs|test|images)\/[^`]+)`/g)]);
    const files = names.map(([, name = '']) => name).filter((name) => !/[A-Z]{4}/.test(name));
    expect(files.filter((name) => !existsSync(path.join(root, name)))).toEqual([]);
  });
});
