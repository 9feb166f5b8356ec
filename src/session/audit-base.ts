import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { BaseReader } from '../audit/input.ts';
import { wantsBaseContent } from '../audit/reached.ts';
import type { ListedEntry } from '../types/collector.ts';
import type { Plan } from '../types/plan.ts';
import type { Workspace } from '../workspace/workspace.ts';

/** Larger configuration is not followed: nobody writes it by hand. */
const FOLLOWED_BYTES = 1 << 20;
const AT_ONCE = 64;

/**
 * What stood in the project before the session, for the audit: every name, the targets of links, and the content of
 * files that lead to others. `.git/config` is the person's own, since the copy's is cleaned on the way in.
 */
export async function readAuditBase(workspace: Workspace, plan: Plan): Promise<BaseReader> {
  const paths: string[] = [];
  const targets = new Map<string, string>();
  const wanted: ListedEntry[] = [];
  for await (const entry of workspace.reader.list('base')) {
    if (/(^|\/)\.git\//.test(entry.path)) continue;
    paths.push(entry.path);
    if (entry.target !== undefined) targets.set(entry.path, entry.target);
    if (entry.kind === 'file' && entry.size <= FOLLOWED_BYTES && wantsBaseContent(entry.path)) wanted.push(entry);
  }
  const contents = new Map<string, Buffer>();
  for (let at = 0; at < wanted.length; at += AT_ONCE) {
    await Promise.all(
      wanted.slice(at, at + AT_ONCE).map(async (entry) => contents.set(entry.path, await read(workspace, entry))),
    );
  }
  const config = hostGitConfig(plan);
  if (config !== undefined) contents.set('.git/config', config);
  return { paths, read: (one) => contents.get(one), linkTarget: (one) => targets.get(one) };
}

async function read(workspace: Workspace, { path: name }: ListedEntry): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of workspace.reader.read('base', name)) chunks.push(chunk);
  return Buffer.concat(chunks);
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
