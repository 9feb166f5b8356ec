import type { CollectOptions } from '../claude/back/collection.ts';
import type { StagedBaseline } from '../claude/stage/stage.ts';
import { RunClaudeError } from '../errors.ts';
import type { RelPath } from '../text/path.ts';
import { parseRelPath } from '../text/path.ts';
import type { ClaudeData } from '../types/claude-data.ts';
import type { ListedEntry } from '../types/collector.ts';
import type { Finding } from '../types/finding.ts';

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
}

/**
 * Reports what the session changed in the agent's configuration. Nothing of it comes back. This process opens no inode of
 * the agent's.
 */
export async function collectAgent(watch: AgentWatch, options: CollectOptions): Promise<ClaudeData> {
  const findings: Finding[] = [];
  const report = (path: string): void => {
    if (findings.length < MAX_FINDINGS) findings.push(written(path));
  };
  for (const entry of await listed(watch, options)) {
    const inside = entry.path.slice(watch.dir.length + 1);
    if (entry.kind === 'dir' || !watch.obeyed.test(inside) || watch.own?.test(inside) === true) continue;
    const before = options.baseline.files[entry.path];
    if (before !== undefined && entry.kind === 'file' && (await isUnchanged(entry, before, options))) continue;
    report(entry.path);
  }
  return { changes: [], attempts: [], findings, dropped: {} };
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
async function listed({ dir }: AgentWatch, { reader, root }: CollectOptions): Promise<readonly ListedEntry[]> {
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
