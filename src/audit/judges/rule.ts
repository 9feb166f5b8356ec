import type { Change } from '../../core/types/entry.ts';
import type { Severity } from '../../core/types/finding.ts';
import type { Line } from '../formats/lines.ts';
import type { Format } from '../formats/structured.ts';
import type { PlainKeys } from './plain.ts';

/** What counts in a change of a listed file. Regular expressions are linear: no nested repetition. */
export type Judge =
  /** Any change at all. */
  | { readonly kind: 'any' }
  /** The file is new. */
  | { readonly kind: 'new' }
  /** The file is a program by its extension, so any change counts. */
  | { readonly kind: 'code' }
  /** A key that is new or has a new value, `a.b[].c`, unless `key=value` is safe; or any new value that matches. */
  | {
      readonly kind: 'keys';
      readonly format: Format;
      readonly danger?: RegExp;
      readonly value?: RegExp;
      readonly safe?: RegExp;
      readonly removed?: RegExp;
    }
  /**
   * A key or value of a settings file that is not known to be plain data, or (removed) a deleted key. A file that does
   * not parse, repeats a key, merges keys or has an unknown tag counts as well.
   */
  | {
      readonly kind: 'settings';
      readonly format: Format;
      /** Globs of the files that it judges, where a rule has a table for each tool; without them all of the rule's. */
      readonly paths?: readonly string[];
      readonly plain: PlainKeys;
      /** Matches `key=value` of plain data that a table cannot describe. */
      readonly safe?: RegExp;
      readonly removed?: RegExp;
    }
  /** A new line, or (removed) a deleted one. */
  | {
      readonly kind: 'lines';
      /** Globs of the files that it judges, where a rule reads others by a parser; without them all of the rule's. */
      readonly paths?: readonly string[];
      readonly danger?: RegExp;
      readonly safe?: RegExp;
      readonly removed?: RegExp;
      /** Every dangerous text matches this: a text that does not is skipped after one search. */
      readonly mark?: RegExp;
    }
  /** A judgement on the whole change: returns what counts. */
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

/** A rule about files of certain names. */
export interface FileRule {
  readonly id: string;
  /** Replaces SUSPECT_FILE and the kind of change. */
  readonly title?: string;
  readonly family: string;
  /** What a user does that runs it. */
  readonly trigger: string;
  readonly severity: Severity;
  /** Globs as in glob.ts, at any depth, without regard to letter case. */
  readonly paths: readonly string[];
  readonly except?: readonly string[];
  /** Any change is reported; the judges only describe what counts in it. */
  readonly always?: boolean;
  /** A deleted file is not a finding. */
  readonly unlessDeleted?: boolean;
  /** Applies only to a file that no other rule knows. */
  readonly lastResort?: boolean;
  readonly judges: readonly Judge[];
  readonly why: string;
  readonly source: string;
}
