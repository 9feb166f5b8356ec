import { RunClaudeError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/text/json-in.ts';
import type { RelPath } from '../../core/text/path.ts';
import { parseRelPath } from '../../core/text/path.ts';
import type { ClaudeData, KeptFile } from '../../core/types/agent/claude-data.ts';
import type { ListedEntry } from '../../core/types/collector.ts';
import type { Finding } from '../../core/types/finding.ts';
import type { CollectOptions } from '../claude/back/collection.ts';
import type { StagedBaseline } from '../claude/stage/stage.ts';
import { digestOfActing, MAX_SETTINGS_BYTES } from './acting-keys.ts';

const MAX_LISTED_ENTRIES = 100_000;
const MAX_FINDINGS = 100;

/** What of an agent's data is watched, as data. */
export interface AgentWatch {
  /** Its configuration directory, relative to the home. */
  readonly dir: string;
  /** Of that directory: what the agent on a host would run, obey or trust. */
  readonly obeyed: RegExp;
  /** Of those: what the agent itself writes in any session. */
  readonly own: RegExp | undefined;
  readonly conversation: AgentConversation;
  readonly settings: SettingsWatch;
}

/** The agent's file of settings, in which it writes preferences by itself. */
export interface SettingsWatch {
  /** Relative to the home. */
  readonly path: string;
  /** What of its text is not a plain preference; undefined, or an error, for a text of another format. */
  readonly others: (text: string) => JsonObject | undefined;
}

/** The files of an agent's conversations, as data. */
export interface AgentConversation {
  /** The directories that have them, relative to the home. */
  readonly dirs: readonly string[];
  /** Paths below the home. The first group, where there is one, is the id of a conversation. */
  readonly file: RegExp;
}

/** The conversation of a session whose files do not name it: the only one there is. */
const ONLY_CONVERSATION = 'latest';

/** Of all files of conversations that one session keeps. */
const MAX_KEPT_BYTES = 64 << 20;
const MAX_KEPT_FILES = 500;

/**
 * Reports what the session changed in the agent's configuration, and freezes its conversations for another run of the
 * session. Nothing of it comes back to the host. This process opens no inode of the agent's.
 */
export async function collectAgent(watch: AgentWatch, options: CollectOptions): Promise<ClaudeData> {
  const findings: Finding[] = [];
  const report = (path: string): void => {
    if (findings.length < MAX_FINDINGS) findings.push(written(path));
  };
  for (const entry of await listed(watch.dir, options)) {
    const inside = entry.path.slice(watch.dir.length + 1);
    if (entry.kind === 'dir' || !watch.obeyed.test(inside) || watch.own?.test(inside) === true) continue;
    const before = options.baseline.files[entry.path];
    if (before !== undefined && entry.kind === 'file' && (await isHarmless(entry, before, watch.settings, options)))
      continue;
    report(entry.path);
  }
  return { changes: [], attempts: [], findings, ...(await keptConversations(watch.conversation, options)) };
}

/**
 * The file that changed last comes first: it is of the conversation to continue. What comes after the first one that a
 * session has no room for is counted only, so that no older conversation takes its place. Files that name no conversation
 * belong together.
 */
async function keptConversations(
  { dirs, file }: AgentConversation,
  options: CollectOptions,
): Promise<Pick<ClaudeData, 'kept' | 'conversation' | 'dropped'>> {
  const found = await Promise.all(dirs.map((dir) => listed(dir, options)));
  const wanted = found.flat().filter(({ kind, path }) => kind === 'file' && file.test(path));
  wanted.sort((a, b) => (BigInt(a.ctimeNs) < BigInt(b.ctimeNs) ? 1 : -1));
  const kept: KeptFile[] = [];
  let bytes = 0;
  for (const { path, size } of wanted) {
    const rel = parseRelPath(path);
    if (rel === undefined) continue;
    if (kept.length >= MAX_KEPT_FILES || bytes + size > MAX_KEPT_BYTES) break;
    const one = await options.store.put(atMost(options.reader.read(options.root, rel), MAX_KEPT_BYTES - bytes));
    bytes += one.size;
    kept.push({ path, digest: one.digest, size: one.size });
  }
  const ids = kept.flatMap(({ path }) => file.exec(path)?.[1] ?? []);
  if (ids.length === 0 && kept.length < wanted.length) kept.length = 0;
  const dropped = wanted.length - kept.length;
  return {
    ...(kept.length === 0 ? {} : { kept, conversation: ids[0] ?? ONLY_CONVERSATION }),
    dropped: dropped === 0 ? {} : { 'conversation files': dropped },
  };
}

/** The first bytes of a file: it may have grown since it was listed. */
async function* atMost(content: AsyncIterable<Buffer>, bytes: number): AsyncGenerator<Buffer> {
  let rest = bytes;
  for await (const chunk of content) {
    yield chunk.subarray(0, rest);
    rest -= chunk.length;
    if (rest <= 0) return;
  }
}

/** Whether a staged file is as it was; a file of settings, apart from plain preferences. */
async function isHarmless(
  entry: ListedEntry,
  before: StagedBaseline['files'][string],
  settings: SettingsWatch,
  options: CollectOptions,
): Promise<boolean> {
  if (await isUnchanged(entry, before, options)) return true;
  const path = parseRelPath(entry.path);
  if (path === undefined || entry.path !== settings.path || before.acting === undefined) return false;
  const chunks: Buffer[] = [];
  // One byte more than is read: a longer file is cut in no place that changes its meaning.
  for await (const chunk of atMost(options.reader.read(options.root, path), MAX_SETTINGS_BYTES + 1)) chunks.push(chunk);
  const content = Buffer.concat(chunks);
  if (content.length > MAX_SETTINGS_BYTES) return false;
  return digestOfActing(content.toString('utf8'), settings.others) === before.acting;
}

async function isUnchanged(
  entry: ListedEntry,
  before: StagedBaseline['files'][string],
  options: CollectOptions,
): Promise<boolean> {
  const path = parseRelPath(entry.path);
  if (path === undefined || entry.size !== before.size) return false;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of options.reader.read(options.root, path)) {
    size += chunk.length;
    if (size > before.size) return false;
    chunks.push(chunk);
  }
  return (await options.store.put([Buffer.concat(chunks)])).digest === before.digest;
}

function written(path: string): Finding {
  return {
    rule: 'agent-data',
    severity: 'blocked',
    path: `~/${path}` as RelPath,
    title: "The agent's configuration written",
    why: 'The agent on the host would run, obey or trust it. It never comes back.',
  };
}

/** The entries of the directory; none where the session removed it. */
async function listed(dir: string, { reader, root }: CollectOptions): Promise<readonly ListedEntry[]> {
  const entries: ListedEntry[] = [];
  try {
    for await (const entry of reader.list(root, dir as RelPath)) {
      entries.push(entry);
      if (entries.length >= MAX_LISTED_ENTRIES) break;
    }
  } catch (error) {
    if (!(error instanceof RunClaudeError && error.code === 'COLLECTOR_READ')) throw error;
  }
  return entries;
}
