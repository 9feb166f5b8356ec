import { appendFileSync, readFileSync, rmSync } from 'node:fs';
import { processIdentity } from '../../../core/host/processes/process.ts';
import type { ContentStore, StoredContent } from '../../../core/store/content.ts';
import type { ListedEntry } from '../../../core/types/collector.ts';

/**
 * The files whose content is in the session's store already. So a file with many names is read once, and a collection
 * that was interrupted goes on where it ended. No program inside can set an inode's change time: content that was written
 * since has another key.
 */
export interface FrozenFiles {
  /** The stored content of a file; `freeze` is called where it is not known yet. */
  content(root: string, entry: ListedEntry, freeze: () => Promise<StoredContent>): Promise<StoredContent>;
  /** Writes what another process has to know to go on. */
  save(): void;
}

/** So many files are recorded at once: the command may be killed at any time. */
const SAVED_AT_ONCE = 500;

/** Reads what an earlier collection left in `file`. */
export function openFrozenFiles(file: string, store: Pick<ContentStore, 'has'>): FrozenFiles {
  const earlier = readKnown(file);
  let lines: string[] = earlier === undefined ? [headerLine()] : [];
  if (earlier === undefined) rmSync(file, { force: true });
  const byKey = new Map<string, StoredContent | Promise<StoredContent>>(earlier ?? []);
  const save = (): void => {
    if (lines.length > 0) appendFileSync(file, lines.join(''), { mode: 0o600 });
    lines = [];
  };
  return {
    async content(root, entry, freeze) {
      const key = `${root} ${entry.ino} ${entry.ctimeNs} ${entry.size}`;
      // Without waiting where there is nothing: the names of one file are asked for at once.
      const known = byKey.get(key);
      const found = known === undefined ? undefined : await known;
      if (found !== undefined && (await store.has(found.digest))) return found;
      const freezing = freeze();
      byKey.set(key, freezing);
      try {
        const stored = await freezing;
        byKey.set(key, stored);
        if (stored.size === entry.size) lines.push(`${JSON.stringify([key, stored.digest, stored.size])}\n`);
        if (lines.length >= SAVED_AT_ONCE) save();
        return stored;
      } catch (error) {
        byKey.delete(key);
        throw error;
      }
    },
    save,
  };
}

/** Content that was written before a power cut may not be whole: it counts for the boot that wrote it. */
function headerLine(): string {
  return `${JSON.stringify({ version: 1, bootId: processIdentity().bootId })}\n`;
}

/** Undefined where there is nothing that may be used. A last line that a kill cut off is left out. */
function readKnown(file: string): Map<string, StoredContent> | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
  if (!text.startsWith(headerLine())) return undefined;
  const known = new Map<string, StoredContent>();
  for (const line of text.slice(headerLine().length, text.lastIndexOf('\n') + 1).split('\n')) {
    if (line === '') continue;
    const one = parseLine(line);
    if (one === undefined) return undefined;
    known.set(one[0], { digest: one[1], size: one[2] });
  }
  return known;
}

function parseLine(line: string): readonly [string, string, number] | undefined {
  try {
    const [key, digest, size] = JSON.parse(line) as readonly unknown[];
    const isSound = typeof key === 'string' && typeof digest === 'string' && typeof size === 'number';
    return isSound && /^[0-9a-f]{64}$/.test(digest) ? [key, digest, size] : undefined;
  } catch {
    return undefined;
  }
}
