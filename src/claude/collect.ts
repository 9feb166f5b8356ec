import type { ClaudeData } from '../types/claude-data.ts';
import type { ListedEntry } from '../types/collector.ts';
import type { RelPath } from '../types/path.ts';
import { type BackRule, backRule, staysOut } from './back-rules.ts';
import { collectHistory } from './collect-history.ts';
import { collectTranscript } from './collect-transcript.ts';
import { type Collection, type CollectOptions, holdsSecret, readWhole, refuse, shown } from './collection.ts';
import { jsonWishes } from './json-wishes.ts';

const LISTED_MAX = 100_000;
const FINDINGS_MAX = 200;

/**
 * Reads what the session left in its home, through the collector, and freezes what may come back: transcripts of an
 * allowlist of record kinds, new lines of history, and, as suspects, memory, plans, todos and tasks. Everything else
 * stays out; what is not Claude's own doing is a finding. No inode of the agent's is opened by this process.
 */
export async function collectClaude(options: CollectOptions): Promise<ClaudeData> {
  const collection: Collection = { ...options, changes: [], findings: [], dropped: new Map() };
  const seen = new Set<string>();
  for (const entry of await listed(collection)) {
    const path = `.claude/${entry.path.replace(/^\.claude\//, '')}`;
    seen.add(path);
    const rule = backRule(path);
    if (entry.kind === 'dir' && entry.problem === undefined) continue;
    if (entry.problem !== undefined) refuse(collection, path, 'Not readable', `it could not be read: ${entry.problem}`);
    else if (rule === undefined) await lookAt(collection, path, entry);
    else if (entry.kind !== 'file')
      refuse(collection, path, 'Not a plain file', `a ${entry.kind} stands where Claude keeps a file`);
    else if (options.syncBack) await bring(collection, path, entry, rule);
  }
  await lookAtJson(collection);
  for (const path of Object.keys(options.baseline.files))
    if (path.startsWith('.claude/') && !seen.has(path)) deleted(collection, path);
  await options.store.flush();
  return {
    changes: collection.changes,
    findings: collection.findings.slice(0, FINDINGS_MAX),
    dropped: Object.fromEntries(collection.dropped),
  };
}

async function listed(collection: Collection): Promise<ListedEntry[]> {
  const entries: ListedEntry[] = [];
  for await (const entry of collection.reader.list(collection.root, '.claude' as RelPath)) {
    entries.push(entry);
    if (entries.length < LISTED_MAX) continue;
    refuse(
      collection,
      '.claude',
      'Too many files',
      'only the first 100,000 entries were looked at; the rest stays out',
    );
    break;
  }
  return entries;
}

async function bring(collection: Collection, path: string, entry: ListedEntry, rule: BackRule): Promise<void> {
  if (entry.nlink > 1) return refuse(collection, path, 'Hard link', 'it is a second name of another file');
  if (entry.size > rule.maxBytes) return refuse(collection, path, 'Too large', `it has ${entry.size} bytes`);
  if (rule.kind === 'transcript') return collectTranscript(collection, path);
  if (rule.kind === 'history') return collectHistory(collection, path);
  const content = await readWhole(collection, path);
  const { digest, size } = await collection.store.put([content]);
  const before = collection.baseline.files[path];
  if (before?.digest === digest) return;
  const why = rule.check(content);
  if (why !== undefined) return refuse(collection, path, 'Not well-formed', why);
  if (holdsSecret(collection, content)) return refuse(collection, path, 'Holds a credential', 'it stays out');
  const how = before === undefined ? 'create' : 'replace';
  const target = rule.target(path);
  collection.changes.push({
    path: target,
    how,
    verdict: 'suspect',
    digest,
    size,
    ...(before && { before: before.digest }),
  });
  collection.findings.push({
    rule: 'claude-data-obeyed',
    severity: 'suspect',
    path: shown(path),
    title: `${rule.name} ${before === undefined ? 'written' : 'changed'}`,
    why: 'A later session reads this and acts on it.',
  });
}

/** Something outside the allowlist: Claude's own doing passes in silence, a wish of somebody's is told. */
async function lookAt(collection: Collection, path: string, entry: ListedEntry): Promise<void> {
  const before = collection.baseline.files[path];
  const verdict = staysOut(path, entry.kind);
  if (verdict === undefined) return;
  if (before !== undefined && entry.kind === 'file' && entry.size < 8 << 20) {
    const { digest } = await collection.store.put([await readWhole(collection, path)]);
    if (digest === before.digest) return;
    if (path === '.claude/settings.json' && (await sameSettings(collection, path))) return;
  }
  collection.findings.push({
    rule: verdict.rule,
    severity: verdict.severity,
    path: shown(path),
    title: before === undefined ? verdict.title : `${verdict.title} (changed)`,
    why: verdict.why,
  });
}

/** Claude writes its own settings file anew; only what it says counts. */
async function sameSettings(collection: Collection, path: string): Promise<boolean> {
  const text = (await readWhole(collection, path)).toString('utf8');
  return /^\s*\{\s*("skipDangerousModePermissionPrompt":\s*true\s*)?\}\s*$/.test(text);
}

/** ~/.claude.json is rewritten by every session; servers and trust for other places in it are wishes. */
async function lookAtJson(collection: Collection): Promise<void> {
  for (const why of await jsonWishes(collection))
    collection.findings.push({
      rule: 'claude-json',
      severity: 'note',
      path: shown('.claude.json'),
      title: 'Claude’s own configuration changed',
      why: `${why}; the file never comes back.`,
    });
}

function deleted(collection: Collection, path: string): void {
  collection.findings.push({
    rule: 'claude-data-deleted',
    severity: 'note',
    path: shown(path),
    title: 'Deleted in the session',
    why: 'Deletions never come back: the host keeps it.',
  });
}
