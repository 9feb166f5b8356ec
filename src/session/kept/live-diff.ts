import { fileDiff } from '../../review/file-diff.ts';
import { newCount, oldCount } from '../../review/hunks.ts';
import type { LiveChanges } from '../../workspace/live.ts';
import type { WorkspaceWatch } from '../../workspace/open.ts';
import type { LiveChange } from '../../workspace/workspace.ts';
import { MAX_RESULT_BYTES, type TextResult } from './requests.ts';

/** Larger files are named only. */
const MAX_DIFF_FILE_BYTES = 1024 ** 2;

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
  for (const change of changes.filter(({ path }) => wanted(path))) {
    const part = await partOf(watch, change);
    size += Buffer.byteLength(part) + 1;
    if (size > MAX_RESULT_BYTES) return { text: parts.join('\n'), isCut: true };
    parts.push(part);
  }
  return { text: parts.join('\n'), isCut: false };
}

async function partOf(watch: WorkspaceWatch, { path, kind, size }: LiveChange): Promise<string> {
  const head = `${kind} ${path}`;
  if (kind === 'unreadable' || kind === 'mode' || size > MAX_DIFF_FILE_BYTES) return head;
  const [before, after] = await Promise.all([
    kind === 'created' ? undefined : watch.read('base', path, MAX_DIFF_FILE_BYTES),
    kind === 'deleted' ? undefined : watch.read('upper', path, MAX_DIFF_FILE_BYTES),
  ]);
  const diff = fileDiff({ path, kind: kind === 'deleted' ? 'deleted' : 'modified' }, before, after);
  if (diff.kind !== 'text') return diff.kind === 'binary' ? `${head} (binary)` : head;
  const lines = diff.hunks.flatMap((hunk) => [
    `@@ -${rangeOf(hunk.oldStart, oldCount(hunk.lines))} +${rangeOf(hunk.newStart, newCount(hunk.lines))} @@`,
    ...hunk.lines.map(({ op, text }) => op + text.replace(/\n$/, '')),
  ]);
  return [head, ...lines].join('\n');
}

/** Lines are counted from 1; an empty range names the line before it. */
function rangeOf(start: number, count: number): string {
  return `${count === 0 ? start : start + 1},${count}`;
}
