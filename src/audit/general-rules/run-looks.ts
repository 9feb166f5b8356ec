import { type Hit, hitOf } from '../hit.ts';
import { GENERAL_RULES } from './all.ts';
import type { GeneralLook, GeneralRule, LookArguments, SeeingLook } from './rule.ts';

/** Looks of a kind in the order of the rules, each once, with the rules that have it by their id. */
type Looks<Kind extends keyof LookArguments> = Map<SeeingLook<Kind>, Map<string, GeneralRule>>;

/**
 * What all looks of a kind find. `path`: where a finding is that names none.
 * @throws {TypeError} for a finding of a rule that does not have the look.
 */
type RunLooks = <Kind extends keyof LookArguments>(kind: Kind, path: string, ...given: LookArguments[Kind]) => Hit[];

function looksOf<Kind extends keyof LookArguments>(rules: readonly GeneralRule[], kind: Kind): Looks<Kind> {
  const found: Looks<Kind> = new Map();
  const isOfKind = (look: GeneralLook): boolean => look.kind === kind;
  for (const rule of rules)
    for (const look of rule.look.filter(isOfKind) as unknown as SeeingLook<Kind>[])
      found.set(look, (found.get(look) ?? new Map<string, GeneralRule>()).set(rule.id, rule));
  return found;
}

/** Runs the looks of rules; those of a kind are collected once. */
export function lookRunner(rules: () => readonly GeneralRule[]): RunLooks {
  const known: { [Kind in keyof LookArguments]?: Looks<Kind> } = {};
  return <Kind extends keyof LookArguments>(kind: Kind, path: string, ...given: LookArguments[Kind]): Hit[] => {
    let looks: Looks<Kind> | undefined = known[kind];
    if (looks === undefined) {
      looks = looksOf(rules(), kind);
      Object.assign(known, { [kind]: looks });
    }
    const hits: Hit[] = [];
    for (const [look, owners] of looks)
      for (const found of look.see(...given)) {
        const rule = found.rule === undefined ? owners.values().next().value : owners.get(found.rule);
        const words = found.wordsOf === undefined ? rule : owners.get(found.wordsOf);
        if (rule === undefined || words === undefined)
          throw new TypeError(`a look of kind ${kind} found a rule that does not have it`);
        hits.push(hitOf(rule, path, found, words));
      }
    return hits;
  };
}

export const runLooks = lookRunner(() => GENERAL_RULES);
