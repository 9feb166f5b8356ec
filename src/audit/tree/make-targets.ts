import { lazy } from '../formats/lazy.ts';

/** Make files are small; the newest is kept, since many files have the same one above them. */
const kept = lazy(() => new Map<string, ReadonlySet<string>>());

/** The targets of a make file that are files: those that it does not declare as phony. Patterns are left out. */
export function targetsOf(text: string): ReadonlySet<string> {
  const had = kept().get(text);
  if (had !== undefined) return had;
  const targets = new Set<string>();
  const phony = new Set<string>();
  for (const line of text.replace(/\\\r?\n/g, ' ').split('\n')) {
    const [, names = '', needs = ''] = /^([^\s:#=][^:#=]{0,2000}?)\s*::?(?!=)(.*)$/.exec(line.slice(0, 4000)) ?? [];
    if (names === '.PHONY') for (const name of needs.trim().split(/\s+/)) phony.add(name);
    else for (const name of names.split(/\s+/)) if (/^[\w./-]+$/.test(name)) targets.add(name.replace(/^\.\//, ''));
  }
  for (const name of phony) targets.delete(name);
  kept().clear();
  kept().set(text, targets);
  return targets;
}
