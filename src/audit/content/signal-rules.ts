import { indexFiles } from '../formats/glob.ts';
import { lazy } from '../formats/lazy.ts';
import type { Look, Rule } from '../judges/rule.ts';
import { SIGNAL_RULES } from '../rules/all.ts';

type Signal = Extract<Look, { kind: 'signal' }> & {
  readonly rule: Rule;
  /** The expression for many lines at once: it matches whenever the one for a line does, or more often. */
  readonly anywhere: RegExp;
};

/** What all rules look for in single lines. */
export const signalLooks = lazy(() =>
  SIGNAL_RULES.flatMap((rule) =>
    rule.look.flatMap((look): Signal[] =>
      look.kind === 'signal'
        ? [{ ...look, rule, anywhere: new RegExp(look.danger.source, `${look.danger.flags}m`) }]
        : [],
    ),
  ),
);

const index = lazy(() => indexFiles(signalLooks().map(({ rule }) => rule.files)));

/** The looks for files of a name, by their number. */
export const signalsFor = (path: string): ReadonlySet<number> => index()(path).fitting;
