import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { RunClaudeError } from '../../errors.ts';
import { parseRelPath, type RelPath } from '../../text/path.ts';
import type { ClaudeChange, ClaudeData } from '../../types/claude-data.ts';
import type { ListedEntry } from '../../types/collector.ts';
import type { Finding } from '../../types/finding.ts';
import type { StagedFile } from '../stage/staged.ts';
import { type BackRule, backRule, staysOut } from './back-rules.ts';
import { collectHistory } from './collect-history.ts';
import { collectTranscript } from './collect-transcript.ts';
import { type Collection, type CollectOptions, holdsSecret, readWhole, refuse, shown } from './collection.ts';
import { jsonWishes } from './suspicious-edits.ts';

const LISTED_MAX = 100_000;
const FINDINGS_MAX = 200;
const CHANGES_MAX = 1000;
const ATTEMPTS_MAX = 100;
const ATTEMPT_BYTES_MAX = 1 << 20;
const READ_MAX = 2 ** 31;

/**
 * Reads what the session left in its home, through the collector, and freezes what may come back: transcripts of an
 * allowlist of record kinds, new lines of history, and, as suspects, memory, plans, todos and tasks. Everything else
 * stays out; what is not Claude's own doing is a finding. No inode of the agent's is opened by this process.
 */
export async function collectClaude(options: CollectOptions): Promise<ClaudeData> {
  const collection: Collection = {
    ...options,
    changes: [],
    attempts: [],
    findings: [],
    dropped: new Map(),
    readBytes: 0,
  };
  const { entries, whole } = await listed(collection);
  for (const entry of entries) {
    try {
      await judge(collection, entry);
    } catch (error) {
      if (!(error instanceof RunClaudeError && error.code === 'COLLECTOR_READ')) throw error;
      refuse(collection, entry.path, 'Not readable', error.message);
    }
  }
  await lookAtJson(collection);
  const seen = new Set<string>(entries.map(({ path }) => path));
  // What was not listed to its end is not known to be deleted.
  const unread = entries.filter(({ problem }) => problem !== undefined).map(({ path }) => `${path}/`);
  for (const path of whole ? Object.keys(options.baseline.files) : []) {
    const gone = path.startsWith('.claude/') && !seen.has(path);
    if (gone && !unread.some((dir) => path.startsWith(dir))) deleted(collection, path);
  }
  await options.store.flush();
  return {
    changes: collection.changes,
    ...lastConversation(collection.changes, entries),
    attempts: collection.attempts,
    findings: bounded(collection.findings),
    dropped: Object.fromEntries(collection.dropped),
  };
}

/** The newest of the transcripts that come back: a session has several after `/clear` or `/resume`. */
function lastConversation(
  changes: readonly ClaudeChange[],
  entries: readonly ListedEntry[],
): Pick<ClaudeData, 'conversation'> {
  const back = new Set(changes.map(({ path }) => `.claude/${path}`));
  const [newest] = entries
    .filter(({ path }) => back.has(path) && backRule(path)?.kind === 'transcript')
    .sort((a, b) => (BigInt(a.mtimeNs) > BigInt(b.mtimeNs) ? -1 : 1));
  return newest === undefined ? {} : { conversation: basename(newest.path, '.jsonl') };
}

async function judge(collection: Collection, entry: ListedEntry): Promise<void> {
  const { path, problem, kind } = entry;
  if (problem !== undefined) return refuse(collection, path, 'Not readable', `it could not be read: ${problem}`);
  if (kind === 'dir') return;
  if (kind === 'symlink' && collection.baseline.links.includes(path)) return;
  const rule = backRule(path);
  if (rule === undefined) return lookAt(collection, path, entry);
  if (kind !== 'file')
    return refuse(collection, path, 'Not a plain file', `a ${kind} stands where Claude keeps a file`);
  if (collection.syncBack) return bring(collection, path, entry, rule);
}

/** The most severe first; what is beyond the bound is counted aloud. */
function bounded(findings: readonly Finding[]): readonly Finding[] {
  const order = { blocked: 0, suspect: 1, note: 2 };
  const sorted = findings.toSorted((a, b) => order[a.severity] - order[b.severity]);
  const rest = sorted.splice(FINDINGS_MAX);
  const [first] = rest;
  if (first === undefined) return sorted;
  const title = `and ${rest.length} more such findings`;
  const why = `Only the first ${FINDINGS_MAX} are listed; none of these files comes back.`;
  return [...sorted, { rule: 'claude-data-more', severity: first.severity, path: shown('.claude'), title, why }];
}

/** What lies below ~/.claude, and whether that is all of it. */
async function listed(collection: Collection): Promise<{ entries: ListedEntry[]; whole: boolean }> {
  const entries: ListedEntry[] = [];
  try {
    for await (const entry of collection.reader.list(collection.root, '.claude' as RelPath)) {
      entries.push(entry);
      if (entries.length < LISTED_MAX) continue;
      refuse(
        collection,
        '.claude',
        'Too many files',
        'only the first 100,000 entries were looked at; the rest stays out',
      );
      return { entries, whole: false };
    }
    return { entries, whole: true };
  } catch (error) {
    if (!(error instanceof RunClaudeError && error.code === 'COLLECTOR_READ')) throw error;
    refuse(collection, '.claude', 'Not readable', 'the session removed it or put something else in its place');
    return { entries: [], whole: false };
  }
}

async function bring(collection: Collection, path: string, entry: ListedEntry, rule: BackRule): Promise<void> {
  if (entry.nlink > 1) return refuse(collection, path, 'Hard link', 'it is a second name of another file');
  if (entry.size > rule.maxBytes) return refuse(collection, path, 'Too large', `it has ${entry.size} bytes`);
  collection.readBytes += entry.size;
  if (collection.changes.length >= CHANGES_MAX || collection.readBytes > READ_MAX)
    return refuse(collection, path, 'Too much', 'the session left more of it than is brought back at once');
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
  if (entry.kind === 'file' && entry.size <= ATTEMPT_BYTES_MAX) {
    const content = await readWhole(collection, path);
    const digest = createHash('sha256').update(content).digest('hex');
    if (digest === before?.digest) return;
    if (path === '.claude/settings.json' && sameSettings(content)) return;
    if (collection.attempts.length < ATTEMPTS_MAX && !holdsSecret(collection, content))
      await keepAttempt(collection, path, content);
  } else if (entry.kind === 'file' && entry.size === before?.size && (await isStaged(collection, path, before))) return;
  collection.findings.push({
    rule: verdict.rule,
    severity: verdict.severity,
    path: shown(path),
    title: before === undefined ? verdict.title : `${verdict.title} (changed)`,
    why: verdict.why,
  });
}

/** Claude writes its own settings file anew; only what it says counts. */
function sameSettings(content: Buffer): boolean {
  return /^\s*\{\s*("skipDangerousModePermissionPrompt":\s*true\s*)?\}\s*$/.test(content.toString('utf8'));
}

async function isStaged(collection: Collection, path: string, staged: StagedFile): Promise<boolean> {
  const hash = createHash('sha256');
  const rel = parseRelPath(path);
  if (rel === undefined) return false;
  for await (const chunk of collection.reader.read(collection.root, rel)) hash.update(chunk);
  return hash.digest('hex') === staged.digest;
}

/** Frozen to be shown with what was staged there; it is on no list of what may come back. */
async function keepAttempt(collection: Collection, path: string, content: Buffer): Promise<void> {
  const before = collection.baseline.files[path]?.digest;
  const known = before !== undefined && (await collection.store.has(before));
  const frozen = await collection.store.put([content]);
  collection.attempts.push({ path: path.slice('.claude/'.length), ...frozen, ...(known ? { before } : {}) });
}

/** ~/.claude.json is rewritten by every session; servers and trust for other places in it are wishes. */
async function lookAtJson(collection: Collection): Promise<void> {
  for (const why of await jsonWishes(collection))
    collection.findings.push({
      rule: 'claude-json',
      severity: 'note',
      path: shown('.claude.json'),
      title: "Claude's own configuration changed",
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
