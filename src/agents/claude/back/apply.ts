import { createHash } from 'node:crypto';
import { lstat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { withLock } from '../../../core/store/lock.ts';
import { makePrivateDir, writeFileAtomic } from '../../../core/store/record.ts';
import type { ClaudeChange, ClaudeData, ClaudeOutcome } from '../../../core/types/agent/claude-data.ts';
import type { ContentReader } from '../../../core/types/entry.ts';
import { appendDurably, type Instance, readOwnFile } from '../instances/instance.ts';

export interface BringBack {
  /** Whether a suspect file comes back, by path. */
  readonly accepted: (path: string) => boolean;
  readonly dryRun: boolean;
}

/**
 * Writes the frozen changes of a session to the project's instance, under a lock. A new file is created only where none
 * exists, and a file is replaced only while it has the content that was staged. Suspects need a yes by path. Nothing is
 * ever deleted. A dry run reads alone, and needs no lock.
 *
 * @throws {RunClaudeError} LOCK_HELD, CONTENT_DAMAGED, RECORD_UNWRITABLE
 */
export async function applyClaude(
  data: ClaudeData,
  store: ContentReader,
  instance: Instance,
  { accepted, dryRun }: BringBack,
): Promise<ClaudeOutcome[]> {
  const applyAll = async (): Promise<ClaudeOutcome[]> => {
    const outcome: ClaudeOutcome[] = [];
    for (const change of data.changes) {
      if (change.verdict === 'clean' || (change.verdict === 'suspect' && accepted(change.path)))
        outcome.push({ path: change.path, verdict: await applyOne(change, store, instance, dryRun) });
      else outcome.push({ path: change.path, verdict: change.verdict });
    }
    return outcome;
  };
  const lock = { what: "bringing Claude's data back", waitMs: 30_000 };
  return dryRun ? applyAll() : withLock(join(instance.dir, 'lock'), lock, applyAll);
}

async function applyOne(
  change: ClaudeChange,
  store: ContentReader,
  instance: Instance,
  dryRun: boolean,
): Promise<'applied' | 'same' | 'conflict'> {
  const path = join(instance.dir, change.path);
  if (!(await hasPlainParents(instance.dir, change.path))) return 'conflict';
  const facts = await lstat(path).catch(() => undefined);
  if (facts !== undefined && !facts.isFile()) return 'conflict';
  const content = await store.read(change.digest);
  if (change.how === 'append' && facts !== undefined) {
    const now = (await readOwnFile(path, 1 << 30)) ?? Buffer.alloc(0);
    const prefix = change.prefix ?? 0;
    if (!now.subarray(0, prefix).equals(content.subarray(0, prefix))) return 'conflict';
    // A crash after an earlier append, and before the session's record was written, leaves the lines in the file.
    const added = content.subarray(prefix);
    if (now.includes(added, prefix)) return 'same';
    if (!dryRun) await appendDurably(path, added);
    return 'applied';
  }
  if (facts !== undefined) {
    const now = createHash('sha256')
      .update((await readOwnFile(path, 1 << 30)) ?? '')
      .digest('hex');
    if (now === change.digest) return 'same';
    if (change.how === 'create' || now !== change.before) return 'conflict';
  }
  if (dryRun) return 'applied';
  makePrivateDir(dirname(path));
  writeFileAtomic(path, content);
  return 'applied';
}

/** Whether every existing parent of the file, below the instance, is a directory and not a link. */
async function hasPlainParents(dir: string, path: string): Promise<boolean> {
  let at = dir;
  for (const part of path.split('/').slice(0, -1)) {
    at = join(at, part);
    const facts = await lstat(at).catch(() => undefined);
    if (facts === undefined) return true;
    if (!facts.isDirectory()) return false;
  }
  return true;
}
