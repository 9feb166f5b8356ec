import type { Severity } from '../../../types/finding.ts';

/** A rule on single new lines of any file. Every expression is linear. */
export interface LineSignal {
  readonly id: string;
  readonly severity: Severity;
  readonly title: string;
  readonly why: string;
  readonly paths: RegExp;
  readonly except?: RegExp;
  readonly regex: RegExp;
  readonly safe?: RegExp;
  readonly source: string;
}

export const CODE =
  /\.(js|cjs|mjs|jsx|ts|cts|mts|tsx|vue|svelte|py|rb|php|pl|lua|sh|bash|zsh|fish|ps1|bat|cmd|c|h|cc|cpp|hpp|cs|java|kt|kts|scala|go|rs|swift|r|jl|ex|exs|hs|clj|dart|groovy|gradle|txt)$|(^|\/)[^.]*$/i;
export const ANY = /./;
