import type { Change, Digest, Entry } from '../types/entry.ts';
import type { Severity } from '../types/finding.ts';
import type { UserRule } from '../types/policy.ts';

/** Files of the base that the session did not change, where the caller has them: more is seen with it, nothing less without. */
export interface BaseReader {
  /** Every path of the base, for names that collide or look alike. */
  readonly paths: Iterable<string>;
  /** Content of a base file, or undefined. */
  read(path: string): Buffer | undefined;
  /** Target of a base link, or undefined. */
  linkTarget?(path: string): string | undefined;
}

export interface AuditInput {
  readonly changes: readonly Change[];
  /** Frozen content by digest. undefined: it cannot be read, and the change is blocked. */
  readonly content: (digest: Digest) => Buffer | undefined;
  readonly base?: BaseReader;
  readonly userRules?: readonly UserRule[];
  /** By rule id. */
  readonly severities?: Readonly<Record<string, Severity>>;
  /** Whether the host's file system tells README from readme. Default: it may not. */
  readonly hostCase?: 'sensitive' | 'insensitive';
  /** End of the session in nanoseconds, for time stamps in the future. */
  readonly endedNs?: string;
}

/** One thing seen, before severities are settled. */
export interface Hit {
  readonly rule: string;
  readonly severity: Severity;
  readonly path: string;
  readonly title: string;
  readonly why: string;
  readonly detail?: string;
  readonly line?: number;
}

/** What all parts of the audit look at. */
export interface Scene {
  readonly input: AuditInput;
  readonly byPath: ReadonlyMap<string, Change>;
  /** Content of an entry: undefined for what is no file, 'unreadable' where it should have been there. */
  bytes(entry: Entry | undefined): Buffer | 'unreadable' | undefined;
  /** What stands at a path after the session, as far as the changes and the base tell. */
  after(path: string): Entry | 'base' | undefined;
}

/** A scene over one input. */
export function sceneOf(input: AuditInput): Scene {
  const byPath = new Map<string, Change>(input.changes.map((change) => [change.path, change]));
  const basePaths = new Set(input.base?.paths ?? []);
  return {
    input,
    byPath,
    bytes: (entry) => {
      if (entry?.kind !== 'file') return undefined;
      if (entry.digest === undefined) return entry.size === 0 ? Buffer.alloc(0) : 'unreadable';
      return input.content(entry.digest) ?? 'unreadable';
    },
    after: (path) => {
      const change = byPath.get(path);
      if (change !== undefined) return change.after;
      return basePaths.has(path) ? 'base' : undefined;
    },
  };
}
