import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { auditFiles, isLoud, readLines } from './plant.ts';
import type { Files, Row } from './rows.ts';

/** An attempt: files that a session leaves, in a project that may have other files and links. */
interface Scene {
  readonly name: string;
  readonly files: Files;
  readonly base?: Row['base'];
  readonly links?: Readonly<Record<string, string>>;
}

const HARMLESS = 'nothing in it that is known to run something';
const folder = new URL('./scenes/', import.meta.url);
const scenes = (file: string) => readLines<Scene>(new URL(file, folder));
const spoken = ({ files, base, links }: Scene): boolean => isLoud(files, base, links);

describe('attempts of an attacker who knows the tools but not the rules', () => {
  const families = readdirSync(folder).filter(
    (file) => file.endsWith('.jsonl') && !/^(quiet|shown)\.jsonl$/.test(file),
  );

  it.each(families)('is never silent: %s', (file) => {
    const all = scenes(file);
    expect(all.length).toBeGreaterThan(15);
    expect(all.filter((one) => !spoken(one)).map(({ name }) => name)).toEqual([]);
  });

  it('is silent about a similar harmless project for each', () => {
    expect(
      scenes('quiet.jsonl')
        .filter(spoken)
        .map(({ name }) => name),
    ).toEqual([]);
  });

  it('reports a harmless change of a file that is always shown as harmless', () => {
    const harmless = ({ files }: Scene): boolean =>
      auditFiles(files).every(({ severity, detail }) => severity === 'note' || detail?.endsWith(HARMLESS) === true);
    const all = scenes('shown.jsonl');
    expect(all.filter((one) => !spoken(one) || !harmless(one)).map(({ name }) => name)).toEqual([]);
  });

  it('follows a script only when another file runs it', () => {
    const base = { 'scripts/build.sh': '. scripts/lib.sh\n', 'scripts/lib.sh': 'x\n' };
    const files = { 'scripts/lib.sh': ['x\n', 'y\n'] } as const;
    expect(spoken({ name: '', files, base })).toBe(false);
    expect(spoken({ name: '', files, base: { ...base, Makefile: 'a:\n\tsh scripts/build.sh\n' } })).toBe(true);
  });
});
