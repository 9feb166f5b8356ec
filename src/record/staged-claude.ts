import path from 'node:path';
import type { StagedBaseline, StagedClaude } from '../claude/stage/stage.ts';
import { openContentStore } from '../store/content.ts';
import { readJson, writeJsonAtomic } from '../store/record.ts';
import { storeDir } from './session.ts';

/** Staged texts up to this size, and this much of them together, are frozen, so that a change of one has a diff. */
const TEXT_MAX = 1 << 20;
const TEXTS_MAX = 32 << 20;

/** Remembers what of Claude's data went in, before the agent can change it. */
export async function rememberStaged(sessionDir: string, staged: StagedClaude): Promise<void> {
  const store = openContentStore(storeDir(sessionDir));
  let left = TEXTS_MAX;
  for (const { path: name, content } of staged.entries) {
    if (!(content instanceof Uint8Array) || content.length > Math.min(TEXT_MAX, left)) continue;
    if (!name.startsWith('.claude/') || name.startsWith('.claude/plugins/') || name.endsWith('.jsonl')) continue;
    left -= content.length;
    await store.put([content]);
  }
  writeJsonAtomic(baselineFile(sessionDir), staged.baseline);
}

/** What {@link rememberStaged} wrote; undefined when nothing was staged. */
export function readStaged(sessionDir: string): StagedBaseline | undefined {
  return readJson(baselineFile(sessionDir)) as StagedBaseline | undefined;
}

function baselineFile(sessionDir: string): string {
  return path.join(sessionDir, 'claude-staged.json');
}
