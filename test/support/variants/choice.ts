import { createHash } from 'node:crypto';
import { matcherOf, splitGlobs } from '../../../src/audit/formats/glob.ts';
import { FILE_RULES } from '../../../src/audit/rules/all.ts';
import type { Finding } from '../../../src/core/types/finding.ts';
import type { Mutator } from './mutator.ts';

const BY_NAME = new Set(FILE_RULES.filter(({ files }) => !files.includes('*')).map(({ id }) => id));

/** Rules that find each path, notes apart. */
export function rulesByPath(findings: readonly Finding[]): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const { path, rule, severity } of findings)
    if (severity !== 'note') found.set(path, (found.get(path) ?? new Set()).add(rule));
  return found;
}

/** Whether one of a rule's globs matches the path in every folder. */
const isAnywhere = (path: string, id: string): boolean => {
  const { named } = splitGlobs(FILE_RULES.find((rule) => rule.id === id)?.files ?? []);
  return matcherOf(named.filter((glob) => !glob.startsWith('/')))(path);
};

/** Whether another name is still the same attack: the rule must judge the file by its name, wherever it is. */
export function mayMove(path: string, rules: ReadonlySet<string>, { name }: Mutator): boolean {
  const named = [...rules].filter((rule) => BY_NAME.has(rule));
  if (name !== 'name in a folder of the project') return named.length > 0;
  return named.some((rule) => !(rule in RULES_AT_THE_TOP) && isAnywhere(path, rule));
}

/** Rules about files that do something only where they are: in a folder of the project they are other files. */
export const RULES_AT_THE_TOP: Readonly<Record<string, string>> = {
  'build-output': 'a build writes to the top of the project',
  'infra-ansible': 'the layout of a role or a collection begins where it is',
  'package-recipe': 'mkosi reads the top of the project',
  'program-by-name': 'their tools are started at the top of the project',
  'python-runs': 'an ordinary package may have a tasks.py',
  'python-shadow': 'Python finds a module at the top of the project, or in src',
  'r-perl': 'data/*.R is read in the package itself',
  'run-command-name': 'a search path names the top of the project',
  'rust-build-script': 'the folder of the name is part of the attack',
  'shell-home-plain': 'the project is a home',
  'unlisted-settings': 'further down settings of unknown tools are data',
  vendored: 'the names are of folders at the top',
};

/** Two mutators of different families, chosen by the attack's own name. Empty when there are none. */
export function chainOf(seed: string, good: readonly Mutator[]): readonly Mutator[] {
  const number = createHash('sha256').update(seed).digest().readUInt32BE(0);
  const familyOf = ({ name }: Mutator): string => name.split(' ')[0] as string;
  const first = good[number % good.length];
  if (first === undefined) return [];
  const rest = good.filter((one) => familyOf(one) !== familyOf(first));
  const second = rest[(number >>> 8) % rest.length];
  // Names last: the mutators of text look at the name.
  return second === undefined
    ? []
    : [first, second].sort((a, b) => Number(a.path !== undefined) - Number(b.path !== undefined));
}
