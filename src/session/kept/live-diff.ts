import { fileDiff } from '../../review/choices/file-diff.ts';
import { hunkHead } from '../../review/choices/hunks.ts';
import { cleanLine } from '../../terminal/clean.ts';
import type { WorkspaceWatch } from '../../workspace/view/open.ts';
import type { LiveChange, LiveChanges } from '../../workspace/view/workspace.ts';
import { MAX_RESULT_BYTES, type TextResult } from './requests.ts';

/** Larger files are named only. */
const MAX_DIFF_FILE_BYTES = 1024 ** 2;
/** Of all files of one answer. */
const MAX_READ_BYTES = 64 * 1024 ** 2;
const DIFF_MS = 30_000;

/**
 * The differences of a running session so far, as text, of the changes that are `wanted`. It is for a client that
 * watches, never for the gate: nothing of it is frozen or audited.
 */
export async function liveDiff(
  watch: WorkspaceWatch,
  { changes }: LiveChanges,
  wanted: (path: string) => boolean,
): Promise<TextResult> {
  const parts: string[] = [];
  let size = 0;
  let readBytes = 0;
  const endMs = performance.now() + DIFF_MS;
  for (const change of changes.filter(({ path }) => wanted(path))) {
    if (readBytes > MAX_READ_BYTES || performance.now() > endMs) return { text: parts.join('\n'), isCut: true };
    const { part, read } = await partOf(watch, change);
    readBytes += read;
    size += Buffer.byteLength(part) + 1;
    if (size > MAX_RESULT_BYTES) return { text: parts.join('\n'), isCut: true };
    parts.push(part);
  }
  return { text: parts.join('\n'), isCut: false };
}

async function partOf(
  watch: WorkspaceWatch,
  { path, kind, size }: LiveChange,
): Promise<{ part: string; read: number }> {
  const head = `${kind} ${cleanLine(path)}`;
  if (kind === 'unreadable' || kind === 'mode' || size > MAX_DIFF_FILE_BYTES) return { part: head, read: 0 };
  const [before, after] = await Promise.all([
    kind === 'created' ? undefined : watch.read('base', path, MAX_DIFF_FILE_BYTES),
    kind === 'deleted' ? undefined : watch.read('upper', path, MAX_DIFF_FILE_BYTES),
  ]);
  const read = (before?.length ?? 0) + (after?.length ?? 0);
  const diff = fileDiff({ path, kind: kind === 'deleted' ? 'deleted' : 'modified' }, before, after);
  if (diff.kind !== 'text') return { part: diff.kind === 'binary' ? `${head} (binary)` : head, read };
  const lines = diff.hunks.flatMap((hunk) => [
    hunkHead(hunk),
    ...hunk.lines.map(({ op, text }) => op + text.replace(/\n$/, '')),
  ]);
  return { part: [head, ...lines].join('\n'), read };
}
