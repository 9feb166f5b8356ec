import path from 'node:path';
import { usageError } from '../../core/errors.ts';
import { probeProject } from '../../core/host/facts.ts';
import { pathIdentity } from '../../core/host/files/true-path.ts';
import { distrust } from '../../core/host/programs/start-program.ts';
import type { HostFacts, ProjectFacts } from '../../core/types/plan.ts';
import type { AskedFolder } from '../plan/plan-run.ts';
import { contains, refuseProject } from '../plan/refuse-project.ts';

const READONLY = ':ro';

/**
 * The folders of `--also DIR[:ro]`, each with its own name below `/also`.
 *
 * @throws {RunClaudeError} USAGE for a folder that no agent may get, and for one that is inside another one of the session
 */
export function alsoFolders(
  words: readonly string[],
  { project, host, cwd }: { readonly project: ProjectFacts; readonly host: HostFacts; readonly cwd: string },
): readonly AskedFolder[] {
  const folders: AskedFolder[] = [];
  for (const word of words) {
    const isReadonly = word.endsWith(READONLY);
    const named = isReadonly ? word.slice(0, -READONLY.length) : word;
    const facts = probeProject(path.resolve(cwd, named), { repo: false });
    distrust([facts.root]);
    refuseProject(facts.root, host, pathIdentity);
    for (const { root } of [project, ...folders.map((folder) => folder.project)]) {
      if (!contains(root, facts.root, pathIdentity) && !contains(facts.root, root, pathIdentity)) continue;
      const hint = 'A file may be in one copy only. Name folders that do not contain each other.';
      throw usageError(`--also ${named}: ${facts.root} and ${root} are one folder, or one is inside the other`, hint);
    }
    folders.push({ name: freeName(facts.root, folders), isReadonly, project: facts });
  }
  return folders;
}

/** The folder's own name in plain characters; the second one of a name is `NAME-2`. */
function freeName(root: string, taken: readonly AskedFolder[]): string {
  const plain =
    path
      .basename(root)
      .replace(/[^A-Za-z0-9._-]+/g, '-')
      .replace(/^[.-]+/, '') || 'folder';
  const isFree = (name: string): boolean => !taken.some((folder) => folder.name === name);
  for (let n = 1; ; n += 1) {
    const name = n === 1 ? plain : `${plain}-${n}`;
    if (isFree(name)) return name;
  }
}
