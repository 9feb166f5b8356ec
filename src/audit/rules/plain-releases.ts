import { readStructure } from '../formats/structured.ts';
import type { HarmlessChange, JudgedText } from '../judges/rule.ts';
import { isNextTag, RELEASE } from './build/workflows/releases.ts';

const PRE_COMMIT = '.pre-commit-config.yaml';

/** The next tag of hooks whose repository stays: only who may write to that repository can set one. */
export const NEXT_HOOKS: HarmlessChange = {
  files: [PRE_COMMIT, '.pre-commit-config.yml'],
  proves: ({ before, after }) => {
    const [old, now] = [before, after].map((text) => readStructure(text, 'yaml', PRE_COMMIT));
    if (old === undefined || now === undefined || old.leaves.length !== now.leaves.length) return false;
    if ([old, now].some(({ duplicates, tags }) => duplicates.length + tags.length > 0)) return false;
    return now.leaves.every(({ key, value }, at) => {
      const was = old.leaves[at];
      if (was === undefined || was.key !== key) return false;
      return was.value === value || (key === 'repos[].rev' && RELEASE.test(was.value) && RELEASE.test(value));
    });
  },
};

/** A package manager that is not the next version of the one before; with the hash of its archive each version is plain. */
export function otherPackageManager({ path, before, after }: JudgedText): string[] {
  // A key may be there twice: parsers differ on which counts.
  const valuesOf = (text = ''): string[] =>
    (readStructure(text, 'auto', path)?.leaves ?? []).flatMap(({ key, value }) =>
      key === 'packageManager' ? [value] : [],
    );
  const old = valuesOf(before);
  const isPlain = (now: string): boolean =>
    old.includes(now) ||
    /^[a-z]+@[0-9.]+\+sha/i.test(now) ||
    (/^(?:npm|pnpm|yarn|bun)@/.test(now) && isNextTag(now, old));
  return valuesOf(after).flatMap((now) => (isPlain(now) ? [] : [`packageManager: ${now.slice(0, 120)}`]));
}
