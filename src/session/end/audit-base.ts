import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setImmediate as nextTurn, setTimeout as rest } from 'node:timers/promises';
import type { BaseReader } from '../../audit/input.ts';
import { resolveInBase } from '../../audit/links.ts';
import { wantsBaseContent } from '../../audit/referrers.ts';
import type { RelPath } from '../../text/path.ts';
import type { Plan } from '../../types/plan.ts';
import type { Workspace } from '../../workspace/workspace.ts';

/** Larger configuration is not followed: nobody writes it by hand. */
const FOLLOWED_BYTES = 1 << 20;

/** Longest time that the event loop, and with it the agent's terminal, waits for this. */
const SLICE_MS = 20;

/**
 * What stood in the project before the session, for the audit: every name, the targets of links, and the content of
 * files that lead to others. Read when it is first asked for. `.git/config` is the person's own, since the copy's is
 * cleaned on the way in, and as it is at the end.
 */
export function openAuditBase(workspace: Workspace, plan: Plan): () => Promise<BaseReader> {
  let reading: Promise<BaseReader> | undefined;
  const read = async (): Promise<BaseReader> => {
    const base = await readAuditBase(workspace);
    return { ...base, read: (one) => (one === '.git/config' ? hostGitConfig(plan) : base.read(one)) };
  };
  return () => (reading ??= read());
}

/** The agent's own start comes first; then a quarter of one processor at the most, for some two seconds. */
const BEFORE_WARM_UP_MS = 1500;
const REST_MS = 3 * SLICE_MS;

/**
 * Gets the audit ready while the agent works, a little at a time, until its end: see warm-up.ts. Throws what keeps the
 * base from being read, and nothing else: whatever fails in the audit fails again where it counts.
 */
export async function warmUpAudit(auditBase: () => Promise<BaseReader>, isOver: AbortSignal): Promise<void> {
  const base = await auditBase();
  await rest(BEFORE_WARM_UP_MS, undefined, { ref: false });
  if (isOver.aborted) return;
  let slice = Date.now();
  try {
    const { warmUp } = await import('../../audit/warm-up.ts');
    for (const _ of warmUp(base)) {
      if (Date.now() - slice <= SLICE_MS) continue;
      await rest(REST_MS, undefined, { ref: false });
      if (isOver.aborted) return;
      slice = Date.now();
    }
  } catch {
    // No reason to stop the agent.
  }
}

async function readAuditBase(workspace: Workspace): Promise<BaseReader> {
  const paths = new Set<string>();
  const targets = new Map<string, string>();
  const contents = new Map<string, Buffer>();
  let slice = Date.now();
  for (const entry of workspace.base.entries()) {
    if (Date.now() - slice > SLICE_MS) {
      await nextTurn();
      slice = Date.now();
    }
    paths.add(entry.path);
    const target = entry.kind === 'symlink' ? workspace.base.target(entry.path) : undefined;
    if (target !== undefined) targets.set(entry.path, target);
    if (entry.kind !== 'file' || entry.size > FOLLOWED_BYTES || !wantsBaseContent(entry.path)) continue;
    const content = workspace.base.read(entry.path);
    if (content !== undefined) contents.set(entry.path, content);
  }
  const linkTarget = (one: string): string | undefined => targets.get(one);
  const linked = new Set([...targets].map(([link, target]) => resolveInBase(linkTarget, link, target)));
  // Files that links lead to are read when the audit asks: what took a link's place is compared with them.
  const read = (one: string): Buffer | undefined =>
    contents.get(one) ?? (linked.has(one) && paths.has(one) ? workspace.base.read(one as RelPath) : undefined);
  return { paths, read, linkTarget };
}

/** The configuration of the person's repository: a file of the host, which no session writes. */
function hostGitConfig({ project }: Plan): Buffer | undefined {
  if (project.gitCommonDir === undefined) return undefined;
  try {
    return readFileSync(path.join(project.gitCommonDir, 'config'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
