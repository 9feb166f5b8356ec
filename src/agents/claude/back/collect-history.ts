import { parseObject } from '../../../core/text/json-in.ts';
import { parseRelPath } from '../../../core/text/path.ts';
import { isConversationId } from '../formats/transcript.ts';
import { type Collection, holdsSecret, refuse } from './collection.ts';
import { addedLines } from './lines.ts';

const MAX_PROMPT_CHARACTERS = 64 << 10;
const MAX_LINES = 10_000;

/** Freezes the prompts that a session added to its history: those of this project, cleaned. Shell commands are suspect. */
export async function collectHistory(collection: Collection, path: string): Promise<void> {
  const rel = parseRelPath(path);
  if (rel === undefined) return;
  const staged = collection.baseline.files[path] ?? { size: 0, digest: '' };
  const added = addedLines(collection.reader.read(collection.root, rel), staged, MAX_PROMPT_CHARACTERS * 4);
  const kept: string[] = [];
  let commands = 0;
  let refused = 0;
  for await (const line of added.lines) {
    const prompt = line === undefined || line.includes('\0') ? undefined : promptOf(line);
    if (prompt === undefined || holdsSecret(collection, prompt) || kept.length >= MAX_LINES) refused += 1;
    else {
      kept.push(`${prompt}\n`);
      if (/"display":"\s*!/.test(prompt)) commands += 1;
    }
  }
  if (refused > 0) collection.dropped.set('history line', refused);
  if (!added.prefixIntact())
    return refuse(
      collection,
      path,
      'History rewritten',
      'its beginning differs from what was staged; the host keeps its own',
    );
  if (kept.length === 0) return;
  const frozen = await collection.store.put([Buffer.from(kept.join(''))]);
  const verdict = commands > 0 ? 'suspect' : 'clean';
  collection.changes.push({ path: 'history.jsonl', how: 'append', verdict, ...frozen });
  if (commands > 0)
    collection.findings.push({
      rule: 'claude-history-command',
      severity: 'suspect',
      path: '~/.claude/history.jsonl' as typeof rel,
      title: `History with ${commands} shell command${commands === 1 ? '' : 's'}`,
      why: 'A prompt that begins with ! runs in the shell when the user recalls and sends it.',
    });
}

function promptOf(line: string): string | undefined {
  const record = line.length > MAX_PROMPT_CHARACTERS * 4 ? undefined : parseObject(line);
  const { display, timestamp, project, sessionId } = record ?? {};
  if (typeof display !== 'string' || display.length > MAX_PROMPT_CHARACTERS) return undefined;
  if (typeof project !== 'string' || !/^\/workspace(\/|$)/.test(project)) return undefined;
  return JSON.stringify({
    display: display.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, ''),
    pastedContents: {},
    timestamp: typeof timestamp === 'number' && Number.isFinite(timestamp) ? timestamp : 0,
    project: '/workspace',
    ...(typeof sessionId === 'string' && isConversationId(sessionId) ? { sessionId } : {}),
  });
}
