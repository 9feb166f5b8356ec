import { parseRelPath } from '../../text/path.ts';
import { TranscriptFilter } from '../formats/transcript.ts';
import { type Collection, holdsSecret, refuse } from './collection.ts';
import { addedLines } from './lines.ts';

const LINE_MAX = 16 << 20;
const ADDED_MAX = 64 << 20;

/**
 * Freezes what a session said in one conversation: filtered record by record, re-rooted, marked with the session. An
 * older conversation only grows: when its beginning is not what was staged, nothing of it comes back.
 */
export async function collectTranscript(collection: Collection, path: string): Promise<void> {
  const rel = parseRelPath(path);
  if (rel === undefined) return;
  const id = path.slice(path.lastIndexOf('/') + 1, -'.jsonl'.length);
  const staged = collection.baseline.files[path] ?? { size: 0, digest: '' };
  const filter = new TranscriptFilter({ sessionId: id, mapCwd: insideOnly, madeIn: collection.sessionId });
  const prefix: Buffer[] = [];
  const added = addedLines(collection.reader.read(collection.root, rel), staged, LINE_MAX, (part) => prefix.push(part));
  let long = 0;
  let secret = 0;
  let size = 0;
  async function* kept(): AsyncGenerator<Buffer> {
    for await (const line of added.lines) {
      yield* prefix.splice(0);
      const text = line === undefined ? undefined : filter.line(line);
      if (line === undefined) long += 1;
      if (text === undefined) continue;
      if (holdsSecret(collection, text)) {
        secret += 1;
        continue;
      }
      const bytes = Buffer.from(`${text}\n`);
      size += bytes.length;
      if (size <= ADDED_MAX) yield bytes;
    }
    yield* prefix.splice(0);
  }
  const frozen = await collection.store.put(kept());
  for (const [kind, count] of filter.dropped) tally(collection.dropped, kind, count);
  if (secret > 0) tally(collection.dropped, 'record with a credential', secret);
  if (long > 0) tally(collection.dropped, 'line too long', long);
  if (added.partial()) tally(collection.dropped, 'line without an end', 1);
  if (!added.prefixIntact())
    return refuse(
      collection,
      path,
      'Older conversation rewritten',
      'its beginning is not what went in; the host keeps its own',
    );
  if (size > ADDED_MAX) refuse(collection, path, 'Too large', 'the conversation was cut after 64 MiB');
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
