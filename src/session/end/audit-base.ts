import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { BaseReader } from '../../audit/input.ts';
import { resolveInBase } from '../../audit/links.ts';
import { wantsBaseContent } from '../../audit/reach/referrers.ts';
import type { RelPath } from '../../text/path.ts';
import type { Plan } from '../../types/plan.ts';
import type { Workspace } from '../../workspace/workspace.ts';

/** Larger files are generated, not written by hand: what they refer to is not followed. */
const MAX_FOLLOWED_BYTES = 1 << 20;

/** Longest time that this work blocks the event loop, and with it the agent's terminal. */
const SLICE_MS = 20;

/**
 * The project before the session, for the audit: every path, the targets of links, and the content of files that refer to
 * others. It is read when it is first asked for. `.git/config` is the user's own file as it is at the end, since the
 * copy's was cleaned when the project was copied.
 */
export function openAuditBase(workspace: Workspace, plan: Plan): () => Promise<BaseReader> {
  let reading: Promise<BaseReader> | undefined;
  const read = async (): Promise<BaseReader> => {
    const base = await readAuditBase(workspace);
    return { ...base, read: (one) => (one === '.git/config' ? hostGitConfig(plan) : base.read(one)) };
  };
  return () => (reading ??= read());
}

/** The agent's own start comes first. */
const WARM_UP_DELAY_MS = 1500;
/** Between slices: the warm-up takes a quarter of one processor at most, for about two seconds. */
const WARM_UP_PAUSE_MS = 3 * SLICE_MS;

/**
 * Prepares the audit in small slices while the agent works, until `end`: see warm-up.ts. Measured with 10 changes in 1,000
 * files: it takes 0.5 s of processor time then, and 0.2 s from the time in which the user waits for the question (1 s by
 * the clock on a busy machine). Throws only errors of reading the base: what fails in the audit fails again at the end.
 */
export async function warmUpAudit(auditBase: () => Promise<BaseReader>, end: AbortSignal): Promise<void> {
  const base = await auditBase();
  await sleep(WARM_UP_DELAY_MS, undefined, { ref: false });
  if (end.aborted) return;
  let slice = Date.now();
  try {
    const { warmUp } = await import('../../audit/warm-up.ts');
    for (const _ of warmUp(base)) {
      if (Date.now() - slice <= SLICE_MS) continue;
      await sleep(WARM_UP_PAUSE_MS, undefined, { ref: false });
      if (end.aborted) return;
      slice = Date.now();
    }
  } catch {
    // The agent need not be stopped for this.
  }
}

async function readAuditBase(workspace: Workspace): Promise<BaseReader> {
  const paths = new Set<string>();
  const targets = new Map<string, string>();
  const contents = new Map<string, Buffer>();
  const executables = new Set<string>();
  let slice = Date.now();
  for (const entry of workspace.base.entries()) {
    if (Date.now() - slice > SLICE_MS) {
      await nextTurn();
      slice = Date.now();
    }
    paths.add(entry.path);
    if (entry.kind === 'file' && (entry.mode & 0o111) !== 0) executables.add(entry.path);
    const target = entry.kind === 'symlink' ? workspace.base.target(entry.path) : undefined;
    if (target !== undefined) targets.set(entry.path, target);
    if (entry.kind !== 'file' || entry.size > MAX_FOLLOWED_BYTES || !wantsBaseContent(entry.path)) continue;
    const content = workspace.base.read(entry.path);
    if (content !== undefined) contents.set(entry.path, content);
  }
  const linkTarget = (one: string): string | undefined => targets.get(one);
  const linked = new Set([...targets].map(([link, target]) => resolveInBase(linkTarget, link, target)));
  // The audit compares what replaced a link with the file that the link led to. Such files are read when it asks.
  const read = (one: string): Buffer | undefined =>
    contents.get(one) ?? (linked.has(one) && paths.has(one) ? workspace.base.read(one as RelPath) : undefined);
  return { paths, executables, read, linkTarget };
}

/** The configuration of the user's repository: a file of the host, which no session writes. */
function hostGitConfig({ project }: Plan): Buffer | undefined {
  if (project.gitCommonDir === undefined) return undefined;
  try {
    return readFileSync(path.join(project.gitCommonDir, 'config'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
