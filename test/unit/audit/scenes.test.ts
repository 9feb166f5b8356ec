import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { auditFiles, isLoud, readLines } from './plant.ts';
import type { Files, Row } from './rows.ts';

/** What somebody tried: files that a session leaves, in a project that may have others and links already. */
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

describe('what somebody would try who knows the tools, not the rules', () => {
  const families = readdirSync(folder).filter(
    (file) => file.endsWith('.jsonl') && !/^(quiet|shown)\.jsonl$/.test(file),
  );

  it.each(families)('is never silent: %s', (file) => {
    const all = scenes(file);
    expect(all.length).toBeGreaterThan(15);
    expect(all.filter((one) => !spoken(one)).map(({ name }) => name)).toEqual([]);
  });

  it('and the harmless beside it is', () => {
    expect(
      scenes('quiet.jsonl')
        .filter(spoken)
        .map(({ name }) => name),
    ).toEqual([]);
  });

  it('says of what is shown at any change that it is harmless', () => {
    const harmless = ({ files }: Scene): boolean =>
      auditFiles(files).every(({ severity, detail }) => severity === 'note' || detail?.endsWith(HARMLESS) === true);
    const all = scenes('shown.jsonl');
    expect(all.filter((one) => !spoken(one) || !harmless(one)).map(({ name }) => name)).toEqual([]);
  });

  it('follows a script only where something leads to it', () => {
    const base = { 'scripts/build.sh': '. scripts/lib.sh\n', 'scripts/lib.sh': 'x\n' };
    const files = { 'scripts/lib.sh': ['x\n', 'y\n'] } as const;
    expect(spoken({ name: '', files, base })).toBe(false);
    expect(spoken({ name: '', files, base: { ...base, Makefile: 'a:\n\tsh scripts/build.sh\n' } })).toBe(true);
  });
});
