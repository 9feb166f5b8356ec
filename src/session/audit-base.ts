import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { BaseReader } from '../audit/input.ts';
import { wantsBaseContent } from '../audit/reached.ts';
import type { Plan } from '../types/plan.ts';
import type { Workspace } from '../workspace/workspace.ts';

/** Larger configuration is not followed: nobody writes it by hand. */
const FOLLOWED_BYTES = 1 << 20;

/**
 * What stood in the project before the session, for the audit: every name, the targets of links, and the content of
 * files that lead to others. `.git/config` is the person's own, since the copy's is cleaned on the way in.
 */
export async function readAuditBase(workspace: Workspace, plan: Plan): Promise<BaseReader> {
  const paths: string[] = [];
  const targets = new Map<string, string>();
  const contents = new Map<string, Buffer>();
  for (const entry of await workspace.base.entries()) {
    if (/(^|\/)\.git\//.test(entry.path)) continue;
    paths.push(entry.path);
    const target = entry.kind === 'symlink' ? workspace.base.target(entry.path) : undefined;
    if (target !== undefined) targets.set(entry.path, target);
    if (entry.kind !== 'file' || entry.size > FOLLOWED_BYTES || !wantsBaseContent(entry.path)) continue;
    const content = workspace.base.read(entry.path);
    if (content !== undefined) contents.set(entry.path, content);
  }
  const config = hostGitConfig(plan);
  if (config !== undefined) contents.set('.git/config', config);
  return { paths, read: (one) => contents.get(one), linkTarget: (one) => targets.get(one) };
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
