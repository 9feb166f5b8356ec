import type { Severity } from '../../../core/types/finding.ts';

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

/** Whatever may be a program, by what is neither prose nor data. */
export { PROGRAM as CODE } from '../paths.ts';
export const ANY = /./;
