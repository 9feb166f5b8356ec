import type { Digest } from '../entry.ts';
import type { Finding, Severity } from '../finding.ts';

/** One thing of Claude's own data that may come back into the project's instance, frozen in the session's store. */
export interface ClaudeChange {
  /**
   * Relative to the instance: 'projects/-workspace/<id>.jsonl', 'history.jsonl', 'plans/x.md'. Known or checked names.
   */
  readonly path: string;
  readonly how: 'append' | 'create' | 'replace';
  /** suspect: text that a later session obeys; comes back only with a yes. */
  readonly verdict: 'clean' | Exclude<Severity, 'note'>;
  /** The bytes to append, or the whole new content. */
  readonly digest: Digest;
  readonly size: number;
  /** Of a conversation that went on: so many bytes of the content are what was staged; only the rest is appended. */
  readonly prefix?: number;
  /** What the instance must hold for 'replace': the digest of what was staged. */
  readonly before?: Digest;
}

/** A file that never comes back and that the session wrote all the same; frozen to be shown. */
export interface ClaudeAttempt {
  /** As {@link ClaudeChange.path}: 'settings.json', 'hooks/x.sh'. */
  readonly path: string;
  readonly digest: Digest;
  readonly size: number;
  /** What was staged there, when its content is in the store. */
  readonly before?: Digest;
}

/** A file of a conversation that stays in the session's store, for another run of the same session. */
export interface KeptFile {
  /** Relative to the home. Its form was checked. */
  readonly path: string;
  readonly digest: Digest;
  readonly size: number;
}

/** A file of the conversation that another run of a session continues. */
export interface ContinuedFile {
  /** Relative to the home. */
  readonly path: string;
  readonly content: Buffer;
}

/** What a session did to Claude's own data; plain data for the record, the report and applyClaude. */
export interface ClaudeData {
  readonly changes: readonly ClaudeChange[];
  readonly attempts: readonly ClaudeAttempt[];
  readonly findings: readonly Finding[];
  /** Id of the conversation that the session wrote to last, where one comes back or is kept. */
  readonly conversation?: string;
  /** Of an agent besides Claude. */
  readonly kept?: readonly KeptFile[];
  /** Transcript records that stayed out, by kind. */
  readonly dropped: Readonly<Record<string, number>>;
}

/** What became of one change of Claude's data. */
export interface ClaudeOutcome {
  readonly path: string;
  readonly verdict: 'applied' | 'same' | 'conflict' | 'suspect' | 'blocked';
}
