import { nameOfPath, parseRelPath } from '../../../core/text/path.ts';
import { TranscriptFilter } from '../formats/transcript.ts';
import { type Collection, holdsSecret, refuse } from './collection.ts';
import { addedLines } from './lines.ts';

const MAX_LINE_BYTES = 16 << 20;
const MAX_ADDED_BYTES = 64 << 20;

/**
 * Freezes the records that a session added to a conversation: filtered one by one, with mapped paths, marked with the
 * session. When the beginning of an older conversation differs from what was staged, none of its records comes back.
 */
export async function collectTranscript(collection: Collection, path: string): Promise<void> {
  const rel = parseRelPath(path);
  if (rel === undefined) return;
  const id = nameOfPath(path).slice(0, -'.jsonl'.length);
  const staged = collection.baseline.files[path] ?? { size: 0, digest: '' };
  const filter = new TranscriptFilter({ sessionId: id, mapCwd: insideOnly, madeIn: collection.sessionId });
  const prefix: Buffer[] = [];
  const added = addedLines(collection.reader.read(collection.root, rel), staged, MAX_LINE_BYTES, (part) =>
    prefix.push(part),
  );
  let longLines = 0;
  let secretLines = 0;
  let size = 0;
  async function* kept(): AsyncGenerator<Buffer> {
    for await (const line of added.lines) {
      yield* prefix.splice(0);
      const text = line === undefined ? undefined : filter.line(line);
      if (line === undefined) longLines += 1;
      if (text === undefined) continue;
      if (holdsSecret(collection, text)) {
        secretLines += 1;
        continue;
      }
      const bytes = Buffer.from(`${text}\n`);
      size += bytes.length;
      if (size <= MAX_ADDED_BYTES) yield bytes;
    }
    yield* prefix.splice(0);
  }
  const frozen = await collection.store.put(kept());
  for (const [kind, count] of filter.dropped) tally(collection.dropped, kind, count);
  if (secretLines > 0) tally(collection.dropped, 'record with a credential', secretLines);
  if (longLines > 0) tally(collection.dropped, 'line too long', longLines);
  if (added.partial()) tally(collection.dropped, 'line without an end', 1);
  if (!added.prefixIntact())
    return refuse(
      collection,
      path,
      'Older conversation rewritten',
      'its beginning differs from what was staged; the host keeps its own',
    );
  if (size > MAX_ADDED_BYTES) refuse(collection, path, 'Too large', 'the conversation was cut at 64 MiB');
  if (size === 0) return;
  const how = staged.size === 0 ? 'create' : 'append';
  const target = path.slice('.claude/'.length);
  collection.changes.push({ path: target, how, prefix: staged.size, verdict: 'clean', ...frozen });
}

function tally(counts: Map<string, number>, kind: string, count: number): void {
  counts.set(kind, (counts.get(kind) ?? 0) + count);
}

/** A working directory inside the project, or its root for any other. */
function insideOnly(cwd: string): string {
  return /^\/workspace(\/(?!\.\.?(\/|$))[^/\0]+)*$/.test(cwd) ? cwd : '/workspace';
}
