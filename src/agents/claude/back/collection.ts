import type { ContentStore } from '../../../core/store/content.ts';
import { parseRelPath, type RelPath } from '../../../core/text/path.ts';
import type { ClaudeAttempt, ClaudeChange } from '../../../core/types/agent/claude-data.ts';
import type { TreeReader } from '../../../core/types/collector.ts';
import type { Finding } from '../../../core/types/finding.ts';
import type { StagedBaseline } from '../stage/stage.ts';

export interface CollectOptions {
  readonly reader: TreeReader;
  /** The reader's name for the session's home. */
  readonly root: string;
  readonly baseline: StagedBaseline;
  readonly sessionId: string;
  /** The session's store, in which everything that may come back is frozen. */
  readonly store: ContentStore;
  /** false with --no-sync-back and --isolate-claude-data: nothing comes back, but findings are still reported. */
  readonly syncBack: boolean;
  /** Values that must not come back in any text: tokens that were inside with --credentials=file. */
  readonly secrets?: readonly string[];
}

/** What the parts of a collection share. */
export interface Collection extends CollectOptions {
  readonly changes: ClaudeChange[];
  readonly findings: Finding[];
  readonly dropped: Map<string, number>;
  readonly attempts: ClaudeAttempt[];
  /** Bytes read for the allowlist so far. A limit on them keeps planted files from delaying the collection for hours. */
  readBytes: number;
}

/** The content of a file of the home; of a larger one little more than its first `max` bytes. */
export async function readWhole(collection: Collection, path: string, max = Number.POSITIVE_INFINITY): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  const rel = parseRelPath(path);
  if (rel === undefined) return Buffer.alloc(0);
  for await (const chunk of collection.reader.read(collection.root, rel)) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > max) break;
  }
  return Buffer.concat(chunks);
}

/** Anthropic's credentials by their form: a token that was inside and has been replaced since is in no list. */
const PROVIDER_CREDENTIAL = /sk-ant-[a-z]{3}\d\d-(?!placeholder-)[A-Za-z0-9_-]{8,}/;

/** Whether a text contains a credential. */
export function holdsSecret(collection: Collection, content: Buffer | string): boolean {
  if ((collection.secrets ?? []).some((secret) => secret !== '' && content.includes(secret))) return true;
  return PROVIDER_CREDENTIAL.test(typeof content === 'string' ? content : content.toString('latin1'));
}

/** Reports a path of the allowlist whose content or kind is refused. */
export function refuse(collection: Collection, path: string, title: string, why: string): void {
  collection.findings.push({ rule: 'claude-data-refused', severity: 'blocked', path: shown(path), title, why });
}

/** A path of the home as the user writes it. */
export function shown(path: string): RelPath {
  return `~/${path}` as RelPath;
}
