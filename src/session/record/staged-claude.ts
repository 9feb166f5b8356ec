import path from 'node:path';
import type { StagedBaseline, StagedClaude } from '../../agents/claude/stage/stage.ts';
import type { StagedFile } from '../../agents/claude/stage/staged.ts';
import { openContentStore } from '../../core/store/content.ts';
import {
  fields,
  listOf,
  mapOf,
  number,
  oneOf,
  optional,
  type RecordFormat,
  readRecordFile,
  text,
} from '../../core/store/parse-record.ts';
import { writeJsonAtomic } from '../../core/store/record.ts';
import { storeDir } from './session.ts';

/** Staged texts up to this size, and this much of them together, are frozen, so that a change of one has a diff. */
const MAX_TEXT_BYTES = 1 << 20;
const MAX_TEXTS_BYTES = 32 << 20;

interface StagedRecord extends StagedBaseline {
  readonly version: 1;
}

/** claude-staged.json. */
const STAGED_FORMAT: RecordFormat<StagedRecord> = {
  name: 'record of the staged Claude data',
  version: 1,
  unversioned: 0,
  migrations: {
    // Before there were links of run-claude's own, the field was absent.
    0: (old) => ({ links: [], ...(old as object), version: 1 }),
  },
  check: fields<StagedRecord>({
    version: oneOf(1),
    files: mapOf(fields<StagedFile>({ size: number, digest: text, acting: optional(text) })),
    servers: listOf(text),
    links: listOf(text),
  }),
  hint: "Without it nothing of Claude's data can be brought back. The project's changes are not affected.",
};

/** Records which Claude data was staged for a session, before the agent can change it. */
export async function rememberStaged(sessionDir: string, staged: StagedClaude): Promise<void> {
  const store = openContentStore(storeDir(sessionDir));
  let remaining = MAX_TEXTS_BYTES;
  for (const { path: name, content } of staged.entries) {
    if (!(content instanceof Uint8Array) || content.length > Math.min(MAX_TEXT_BYTES, remaining)) continue;
    if (!name.startsWith('.claude/') || name.startsWith('.claude/plugins/') || name.endsWith('.jsonl')) continue;
    remaining -= content.length;
    await store.put([content]);
  }
  writeJsonAtomic(baselineFile(sessionDir), { version: STAGED_FORMAT.version, ...staged.baseline });
}

/**
 * What {@link rememberStaged} wrote; undefined when nothing was staged.
 *
 * @throws {RunClaudeError} RECORD_VERSION, RECORD_DAMAGED, RECORD_UNREADABLE.
 */
export function readStaged(sessionDir: string): StagedBaseline | undefined {
  return readRecordFile(baselineFile(sessionDir), STAGED_FORMAT);
}

function baselineFile(sessionDir: string): string {
  return path.join(sessionDir, 'claude-staged.json');
}
