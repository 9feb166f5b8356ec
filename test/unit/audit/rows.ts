/** A file of a fixture: text that is new; text before and after; or another kind of entry. */
export type Planted =
  | string
  | readonly [before: string | null, after: string | null]
  | { readonly link: string }
  | { readonly bytes: string; readonly mode?: number; readonly was?: number }
  | { readonly special: 'fifo' | 'socket' | 'char' }
  | { readonly more: object; readonly text?: string };
export type Files = Readonly<Record<string, Planted>>;

export interface Row {
  readonly id: string;
  /** A rule that must speak of the dangerous form, at suspect or blocked (at any severity where it only notes). */
  readonly rule: string;
  readonly danger: Files;
  /** Nothing of it may be suspect or blocked. undefined: a kind of file that is shown at any change. */
  readonly near?: Files;
  /** Unchanged files of the project. */
  readonly base?: Readonly<Record<string, string>>;
}

export const row = (
  id: string,
  rule: string,
  danger: Files,
  near?: Files,
  base?: Readonly<Record<string, string>>,
): Row => ({ id, rule, danger, ...(near === undefined ? {} : { near }), ...(base === undefined ? {} : { base }) });

/** A text whose one line or value moves. */
export const edit = (before: string, after: string): readonly [string, string] => [before, after];
