import type { Change } from '../../types/entry.ts';
import type { Severity } from '../../types/finding.ts';
import type { Line } from './lines.ts';

/** How structured text is read: `auto` goes by the file's extension. */
export type Format = 'json' | 'jsonc' | 'yaml' | 'toml' | 'ini' | 'auto';

/** What in a change of a listed file counts. Regular expressions are linear: no nested repetition. */
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
  /** A line that was not there before, or (removed) one that is gone. */
  | {
      readonly kind: 'lines';
      readonly danger?: RegExp;
      readonly safe?: RegExp;
      readonly removed?: RegExp;
      /** Where no line of a text can be dangerous without this, the text is looked at once and mostly passed by. */
      readonly mark?: RegExp;
    }
  /** What no key or line shows by itself: says what it saw. */
  | { readonly kind: 'custom'; readonly see: (text: JudgedText) => readonly string[] };

export interface JudgedText {
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
  readonly change: Change;
  /** Lines that are new, and those that are gone; worked out once a change. */
  readonly added: () => readonly Line[];
  readonly gone: () => readonly Line[];
}

/** The title of a rule that has none of its own; a finding adds 'created', 'modified' or 'deleted'. */
export const SUSPECT_FILE = 'Suspect file';

/** A rule about files of certain names. */
export interface FileRule {
  readonly id: string;
  /** Instead of SUSPECT_FILE and what was done to it. */
  readonly title?: string;
  readonly family: string;
  /** What the person does that runs it. */
  readonly trigger: string;
  readonly severity: Severity;
  /** Globs as in glob.ts, at any depth, without regard to letter case. */
  readonly paths: readonly string[];
  readonly except?: readonly string[];
  /** Any change is reported; the judges only say what in it counts. */
  readonly always?: boolean;
  /** Says nothing of a file that is gone. */
  readonly unlessGone?: boolean;
  /** Speaks only of a file that no other rule is about. */
  readonly lastResort?: boolean;
  readonly judges: readonly Judge[];
  readonly why: string;
  readonly source: string;
}
