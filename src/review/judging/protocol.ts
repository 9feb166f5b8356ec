import type { Hit } from '../../audit/hit.ts';
import type { AuditInput } from '../../audit/input.ts';
import type { Change, Digest } from '../../core/types/entry.ts';

/** To be raised with each change of the messages: run-claude may be replaced on the disk while a session runs. */
export const PROTOCOL = 2;

/** The project before the session, on this machine: the list of its entries, and the directories that hold them. */
export interface BasePlace {
  readonly manifest: string;
  readonly trees: readonly string[];
  /** The configuration of the user's own repository. */
  readonly gitConfig?: string;
}

/** Where the judge reads content: a session's store and base by itself, or from the process that started it. */
export type Source =
  | { readonly kind: 'frozen'; readonly store: string; readonly base: BasePlace }
  | { readonly kind: 'asked'; readonly hasBase: boolean };

/** The settings of an audit that are plain data. */
export type AuditSettings = Omit<AuditInput, 'changes' | 'content' | 'base' | 'severities' | 'looksAt'>;

/** A message to the judge. */
export type ToJudge =
  | { readonly kind: 'open'; readonly source: Source }
  /** Of an asked base: paths, which of them are executable files, and targets of its links by path. */
  | {
      readonly kind: 'paths';
      readonly paths: readonly string[];
      readonly executables: readonly string[];
      readonly links: readonly (readonly [string, string])[];
    }
  /** Work ahead for this long; answered by 'warmed'. */
  | { readonly kind: 'warm'; readonly sliceMs: number }
  | { readonly kind: 'audit'; readonly settings: AuditSettings }
  | { readonly kind: 'changes'; readonly changes: readonly Change[] }
  /** Answered by 'hits' for each batch of changes until `to`. */
  | { readonly kind: 'judge'; readonly from: number; readonly to: number; readonly batch: number }
  /** Answered by 'together'; with `isCareful` by 'at' before each change that is looked at. */
  | { readonly kind: 'together'; readonly isCareful: boolean }
  /** The answer to 'ask': its bytes follow the message. */
  | { readonly kind: 'content'; readonly isMissing: boolean };

/** A message of the judge. */
export type FromJudge =
  | { readonly kind: 'hello'; readonly protocol: number }
  | { readonly kind: 'warmed'; readonly isDone: boolean }
  /** Of the changes before `to` that no earlier message covered. */
  | { readonly kind: 'hits'; readonly to: number; readonly hits: readonly Hit[] }
  | { readonly kind: 'at'; readonly path: string }
  | { readonly kind: 'together'; readonly hits: readonly Hit[] }
  | { readonly kind: 'ask'; readonly digest: Digest }
  | { readonly kind: 'ask-base'; readonly path: string }
  /** An error of the system: no change is its cause. */
  | { readonly kind: 'failed'; readonly message: string };
