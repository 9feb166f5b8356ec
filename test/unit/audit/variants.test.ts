import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Finding } from '../../../src/core/types/finding.ts';
import { chainOf, mayMove, rulesByPath } from '../../support/variants/choice.ts';
import type { Mutator } from '../../support/variants/mutator.ts';
import { type AttackFile, MUTATORS, mutate } from '../../support/variants/variants.ts';
import { ATTACKS, type Attack } from './attacks.ts';
import { auditFiles } from './plant.ts';
import type { Planted } from './rows.ts';

/** By rule, then by mutator: the attacks of which that variant is not found. */
type Gaps = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
const gapsFile = new URL('./variant-gaps.yaml', import.meta.url);
const GAPS = (parse(readFileSync(gapsFile, 'utf8')) ?? {}) as Gaps;

const LONGEST_MUTATED = 20_000;

function textOf(path: string, planted: Planted): AttackFile[] {
  if (typeof planted === 'string') return [{ path, before: undefined, after: planted }];
  if (!Array.isArray(planted) || typeof planted[1] !== 'string') return [];
  return [{ path, before: planted[0] ?? undefined, after: planted[1] }];
}

const findingsOf = ({ files, base, links }: Attack): Finding[] => auditFiles(files, base, links);

/** The variants of the attack's files by one chain of mutators, by the path of the original. */
function variantsOf(
  { files, base = {} }: Attack,
  texts: readonly AttackFile[],
  rules: Map<string, Set<string>>,
  chain: readonly Mutator[],
) {
  const variants = new Map<string, AttackFile>();
  for (const text of texts) {
    const own = rules.get(text.path) as Set<string>;
    if (chain.some((one) => one.path !== undefined && !mayMove(text.path, own, one))) continue;
    const variant = mutate(text, chain);
    if (variant === undefined) continue;
    // Another file of the attack or of the project keeps its name.
    const isTaken = variant.path !== text.path && (variant.path in files || variant.path in base);
    if (!isTaken) variants.set(text.path, variant);
  }
  return variants;
}

/** The attack with its variants in place of the originals, and which of them nothing finds. */
function silentOnes(attack: Attack, variants: ReadonlyMap<string, AttackFile>): string[] {
  const files: Record<string, Planted> = {};
  for (const [path, planted] of Object.entries(attack.files)) {
    const variant = variants.get(path);
    if (variant === undefined) files[path] = planted;
    else files[variant.path] = variant.before === undefined ? variant.after : [variant.before, variant.after];
  }
  const found = rulesByPath(findingsOf({ ...attack, files }));
  return [...variants].flatMap(([path, variant]) => (found.has(variant.path) ? [] : [path]));
}

it('finds every variant of every attack, but those that are listed by rule', () => {
  const silent: Record<string, Record<string, string[]>> = {};
  let count = 0;
  for (const attack of ATTACKS) {
    const rules = rulesByPath(findingsOf(attack));
    const texts = Object.entries(attack.files)
      .filter(([path]) => rules.has(path))
      .flatMap(([path, planted]) => textOf(path, planted))
      .filter(({ after }) => after.length <= LONGEST_MUTATED);
    const good: Mutator[] = [];
    const tryChain = (chain: readonly Mutator[]): void => {
      const variants = variantsOf(attack, texts, rules, chain);
      if (variants.size === 0) return;
      count += variants.size;
      const missed = silentOnes(attack, variants);
      if (chain[0] !== undefined && missed.length === 0) good.push(chain[0]);
      for (const path of missed) {
        const rule = [...(rules.get(path) as Set<string>)].sort().join(', ');
        const mutators = chain.map(({ name }) => name).join(', ');
        const id = attack.name === '' ? path : `${attack.name}: ${path}`;
        const byMutator = silent[rule] ?? {};
        byMutator[mutators] = [...new Set([...(byMutator[mutators] ?? []), id])];
        silent[rule] = byMutator;
      }
    };
    for (const one of MUTATORS) tryChain([one]);
    // Two that are found alone, one after the other: the same two for the same attack in every run.
    const two = chainOf(`${attack.name} ${Object.keys(attack.files).join(' ')}`, good);
    if (two.length > 0) tryChain(two);
  }
  if (process.env['WRITE_VARIANT_GAPS'] === '1') writeFileSync(gapsFile, textOfGaps(silent));
  expect(count).toBeGreaterThan(25_000);
  expect(silent).toEqual(GAPS);
});

/** The list as it is kept: sorted, a line for each attack, so that each fixed variant is one line less. */
function textOfGaps(silent: Gaps): string {
  const lines = [
    '# Variants of attacks that no rule finds, by rule and mutator (test/support/variants). The test fails for one that is',
    '# missing here, and for one that is listed and found: remove its line. After a change of many:',
    '# WRITE_VARIANT_GAPS=1 npx vitest run --project unit test/unit/audit/variants.test.ts',
  ];
  for (const rule of Object.keys(silent).sort()) {
    lines.push('', `${rule}:`);
    for (const [mutator, paths] of Object.entries(silent[rule] ?? {}))
      lines.push(`  ${mutator}:`, ...paths.map((path) => `    - ${JSON.stringify(path)}`));
  }
  return `${lines.join('\n')}\n`;
}
