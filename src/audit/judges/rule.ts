import type { Change } from '../../core/types/entry.ts';
import type { Severity } from '../../core/types/finding.ts';
import type { Line } from '../formats/lines.ts';
import type { Format } from '../formats/structured.ts';
import type { HarmlessKeys } from './harmless-keys.ts';

/**
 * What a rule looks for in a change of its files, and what of that is harmless. Regular expressions are linear: no nested
 * repetition. `files`: globs of the files that it reads, where a rule has other looks for the rest.
 */
export type Look =
  /** Any change is a finding, also of the mode alone. Other looks of the rule only describe what the change does. */
  | { readonly kind: 'any' }
  /** Any change of the content. */
  | { readonly kind: 'content' }
  /** The file is new. */
  | { readonly kind: 'new' }
  /** The file is a program by its extension, so any change counts. */
  | { readonly kind: 'code' }
  /** A key that is new or has a new value, `a.b[].c`, unless `key=value` is harmless; or any new value that matches. */
  | {
      readonly kind: 'keys';
      readonly format: Format;
      readonly danger?: RegExp;
      readonly value?: RegExp;
      readonly harmless?: RegExp;
      readonly removed?: RegExp;
    }
  /**
   * A key or value of a settings file that is not known to be harmless, or (removed) a deleted key. A file that does
   * not parse, repeats a key, merges keys or has an unknown tag counts as well.
   */
  | {
      readonly kind: 'settings';
      readonly format: Format;
      readonly files?: readonly string[];
      readonly harmless: HarmlessKeys;
      readonly removed?: RegExp;
    }
  /** A new line, or (removed) a deleted one. */
  | {
      readonly kind: 'lines';
      readonly files?: readonly string[];
      readonly danger?: RegExp;
      readonly harmless?: RegExp;
      readonly removed?: RegExp;
      /** Every dangerous text matches this: a text that does not is skipped after one search. */
      readonly mark?: RegExp;
    }
  /**
   * A new line of any text, also as a tool reads it: the finding is of the first one, with the number of the others.
   * `inCode`: not in the examples of a page, which are shown and never run. `counted`: a line of this form is new only
   * where the text has more of them than before, whatever their variables are called.
   */
  | {
      readonly kind: 'signal';
      readonly danger: RegExp;
      readonly harmless?: RegExp;
      readonly inCode?: boolean;
      readonly counted?: RegExp;
    }
  /** A function of the whole change: returns what counts. */
  | { readonly kind: 'custom'; readonly see: (text: JudgedText) => readonly string[] };

export interface JudgedText {
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
  readonly change: Change;
  /** New and deleted lines, computed once for each change. */
  readonly added: () => readonly Line[];
  readonly deleted: () => readonly Line[];
}

/** The title of a rule that has none of its own; a finding adds 'created', 'modified' or 'deleted'. */
export const SUSPECT_FILE = 'Suspect file';

/** The look of a rule that reports any change. */
export const ANY_CHANGE: Look = { kind: 'any' };

/** A text before and after a change. */
export type BothTexts = Readonly<Record<'before' | 'after', string>>;

/** A proof that a change of one file is harmless and nothing else. Whatever is not proven stays a finding. */
export interface HarmlessChange {
  /** Globs of the files (glob.ts). */
  readonly files: readonly string[];
  /** Whether the change is proven; both texts are there, and the file was and is one that cannot be executed. */
  readonly proves: (texts: BothTexts) => boolean;
  /** Whether the deletion of a file with this text is proven; without it none is. */
  readonly provesDeletion?: (before: string) => boolean;
}

/**
 * What is harmless in a file of a rule: its deletion, other comments and nothing else (in YAML, TOML and make), or a change
 * that is proven to be.
 */
export type Harmless = 'deletion' | 'comments' | HarmlessChange;

/** A rule of the audit. */
export interface Rule<OneLook = Look> {
  readonly id: string;
  /** Replaces SUSPECT_FILE and the kind of change. */
  readonly title?: string;
  readonly family: string;
  /** What a user does that runs it. */
  readonly when: string;
  readonly severity: Severity;
  /**
   * Globs as in glob.ts, at any depth, without regard to letter case. One that begins with `!` leaves files out that globs
   * before it name.
   */
  readonly files: readonly string[];
  readonly look: readonly OneLook[];
  readonly harmless?: readonly Harmless[];
  /** Applies only to a file that no other rule knows. */
  readonly lastResort?: boolean;
  readonly why: string;
  readonly source: string;
}

/** Globs that leave out what the given ones match. */
export const not = (globs: readonly string[]): string[] => globs.map((glob) => `!${glob}`);

/** What a rule looks for, also where any change is a finding. */
export const closerLooks = ({ look }: Rule): readonly Look[] => look.filter((one) => one !== ANY_CHANGE);

/** Whether a rule reports any change of its files. */
export const reportsAny = ({ look }: Rule): boolean => look.includes(ANY_CHANGE);
