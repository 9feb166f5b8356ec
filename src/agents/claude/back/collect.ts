import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { RunClaudeError } from '../../../core/errors.ts';
import { parseRelPath, type RelPath } from '../../../core/text/path.ts';
import type { ClaudeChange, ClaudeData } from '../../../core/types/agent/claude-data.ts';
import type { ListedEntry } from '../../../core/types/collector.ts';
import { type Finding, SEVERITY_RANK } from '../../../core/types/finding.ts';
import type { StagedFile } from '../stage/staged.ts';
import { type BackRule, backRule, refusedPath } from './back-rules.ts';
import { collectHistory } from './collect-history.ts';
import { collectTranscript } from './collect-transcript.ts';
import { type Collection, type CollectOptions, holdsSecret, readWhole, refuse, shown } from './collection.ts';
import { suspiciousEdits } from './suspicious-edits.ts';

const MAX_LISTED_ENTRIES = 100_000;
const MAX_FINDINGS = 200;
const MAX_CHANGES = 1000;
const MAX_ATTEMPTS = 100;
const MAX_ATTEMPT_BYTES = 1 << 20;
const MAX_READ_BYTES = 2 ** 31;

/**
 * Reads the session's home through the collector and freezes what may come back: transcripts with an allowlist of record
 * kinds, new lines of history, and, as suspects, memory, plans, todos and tasks. Everything else stays out, and is a
 * finding unless Claude itself writes it in any session. This process opens no inode of the agent's.
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
      await collectEntry(collection, entry);
    } catch (error) {
      if (!(error instanceof RunClaudeError && error.code === 'COLLECTOR_READ')) throw error;
      refuse(collection, entry.path, 'Not readable', error.message);
    }
  }
  await reportJsonEdits(collection);
  const listedPaths = new Set<string>(entries.map(({ path }) => path));
  // A file in a directory that was not listed completely is not known to be deleted.
  const unread = entries.filter(({ problem }) => problem !== undefined).map(({ path }) => `${path}/`);
  for (const path of whole ? Object.keys(options.baseline.files) : []) {
    const isMissing = path.startsWith('.claude/') && !listedPaths.has(path);
    if (isMissing && !unread.some((dir) => path.startsWith(dir))) reportDeleted(collection, path);
  }
  await options.store.flush();
  return {
    changes: collection.changes,
    ...lastConversation(collection.changes, entries),
    attempts: collection.attempts,
    findings: limitFindings(collection.findings),
    dropped: Object.fromEntries(collection.dropped),
  };
}

/** The newest of the transcripts that come back. A session has several after `/clear` or `/resume`. */
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

async function collectEntry(collection: Collection, entry: ListedEntry): Promise<void> {
  const { path, problem, kind } = entry;
  if (problem !== undefined) return refuse(collection, path, 'Not readable', `it could not be read: ${problem}`);
  if (kind === 'dir') return;
  if (kind === 'symlink' && collection.baseline.links.includes(path)) return;
  const rule = backRule(path);
  if (rule === undefined) return reportUnlisted(collection, path, entry);
  if (kind !== 'file')
    return refuse(collection, path, 'Not a plain file', `a ${kind} is in place of a file of Claude's`);
  if (collection.syncBack) return freezeEntry(collection, path, entry, rule);
}

/** The most severe findings; the number of the others is its own finding. */
function limitFindings(findings: readonly Finding[]): readonly Finding[] {
  const sorted = findings.toSorted((a, b) => SEVERITY_RANK[a.severity] - SEVERITY_RANK[b.severity]);
  const rest = sorted.splice(MAX_FINDINGS);
  const [first] = rest;
  if (first === undefined) return sorted;
  const title = `and ${rest.length} more such findings`;
  const why = `Only the first ${MAX_FINDINGS} are listed. None of these files comes back.`;
  return [...sorted, { rule: 'claude-data-more', severity: first.severity, path: shown('.claude'), title, why }];
}

/** The entries below ~/.claude, and whether the list is complete. */
async function listed(collection: Collection): Promise<{ entries: ListedEntry[]; whole: boolean }> {
  const entries: ListedEntry[] = [];
  try {
    for await (const entry of collection.reader.list(collection.root, '.claude' as RelPath)) {
      entries.push(entry);
      if (entries.length < MAX_LISTED_ENTRIES) continue;
      refuse(
        collection,
        '.claude',
        'Too many files',
        'only the first 100,000 entries were read; the rest does not come back',
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

async function freezeEntry(collection: Collection, path: string, entry: ListedEntry, rule: BackRule): Promise<void> {
  if (entry.nlink > 1) return refuse(collection, path, 'Hard link', 'it is a second name of another file');
  if (entry.size > rule.maxBytes) return refuse(collection, path, 'Too large', `it has ${entry.size} bytes`);
  collection.readBytes += entry.size;
  if (collection.changes.length >= MAX_CHANGES || collection.readBytes > MAX_READ_BYTES)
    return refuse(collection, path, 'Too much', 'the session left more than is brought back at once');
  if (rule.kind === 'transcript') return collectTranscript(collection, path);
  if (rule.kind === 'history') return collectHistory(collection, path);
  const content = await readWhole(collection, path);
  const { digest, size } = await collection.store.put([content]);
  const before = collection.baseline.files[path];
  if (before?.digest === digest) return;
  const why = rule.check(content);
  if (why !== undefined) return refuse(collection, path, 'Not well-formed', why);
  if (holdsSecret(collection, content)) return refuse(collection, path, 'Holds a credential', 'it does not come back');
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

/** A finding for a path outside the allowlist that differs from what was staged; none for what Claude itself writes. */
async function reportUnlisted(collection: Collection, path: string, entry: ListedEntry): Promise<void> {
  const before = collection.baseline.files[path];
  const refused = refusedPath(path, entry.kind);
  if (refused === undefined) return;
  if (entry.kind === 'file' && entry.size <= MAX_ATTEMPT_BYTES) {
    const content = await readWhole(collection, path);
    const digest = createHash('sha256').update(content).digest('hex');
    if (digest === before?.digest) return;
    if (path === '.claude/settings.json' && isRewrittenOnly(content)) return;
    if (collection.attempts.length < MAX_ATTEMPTS && !holdsSecret(collection, content))
      await keepAttempt(collection, path, content);
  } else if (entry.kind === 'file' && entry.size === before?.size && (await isStaged(collection, path, before))) return;
  collection.findings.push({
    rule: refused.rule,
    severity: refused.severity,
    path: shown(path),
    title: before === undefined ? refused.title : `${refused.title} (changed)`,
    why: refused.why,
  });
}

/** Claude rewrites its settings file without the user's keys: such a file changes nothing. */
function isRewrittenOnly(content: Buffer): boolean {
  return /^\s*\{\s*("skipDangerousModePermissionPrompt":\s*true\s*)?\}\s*$/.test(content.toString('utf8'));
}

async function isStaged(collection: Collection, path: string, staged: StagedFile): Promise<boolean> {
  const hash = createHash('sha256');
  const rel = parseRelPath(path);
  if (rel === undefined) return false;
  for await (const chunk of collection.reader.read(collection.root, rel)) hash.update(chunk);
  return hash.digest('hex') === staged.digest;
}

/** Freezes a file to show it next to what was staged. It never comes back. */
async function keepAttempt(collection: Collection, path: string, content: Buffer): Promise<void> {
  const before = collection.baseline.files[path]?.digest;
  const known = before !== undefined && (await collection.store.has(before));
  const frozen = await collection.store.put([content]);
  collection.attempts.push({ path: path.slice('.claude/'.length), ...frozen, ...(known ? { before } : {}) });
}

/** Every session rewrites ~/.claude.json. Servers, and trust for other places, are edits to report. */
async function reportJsonEdits(collection: Collection): Promise<void> {
  for (const why of await suspiciousEdits(collection))
    collection.findings.push({
      rule: 'claude-json',
      severity: 'note',
      path: shown('.claude.json'),
      title: "Claude's own configuration changed",
      why: `${why}. The file never comes back.`,
    });
}

function reportDeleted(collection: Collection, path: string): void {
  collection.findings.push({
    rule: 'claude-data-deleted',
    severity: 'note',
    path: shown(path),
    title: 'Deleted in the session',
    why: 'Deletions never come back: the host keeps the file.',
  });
}
