import { isDotGitName } from '../core/git/names.ts';
import { foldersAbove } from '../core/text/path.ts';
import type { Change } from '../core/types/entry.ts';
import { SEVERITY_RANK, type Severity } from '../core/types/finding.ts';
import type { Hit } from './hit.ts';

/**
 * Findings for what is inside a folder that has a finding, or below an entry that replaced a folder: whoever applies
 * a file also makes its folders, and whoever deletes the files of a folder deletes the folder. A change that has a
 * finding of at least that severity gets no other.
 */
export function insideFolders(changes: readonly Change[], hits: readonly Hit[]): Hit[] {
  const suspect = new Set(hits.filter(({ severity }) => severity !== 'note').map(({ path }) => path));
  const byPath = new Map<string, Change>(changes.flatMap((one) => (suspect.has(one.path) ? [[one.path, one]] : [])));
  const folders = new Map<string, Hit>();
  const worst = new Map<string, Severity>();
  for (const hit of hits) {
    const had = worst.get(hit.path);
    if (had === undefined || SEVERITY_RANK[hit.severity] < SEVERITY_RANK[had]) worst.set(hit.path, hit.severity);
    if (hit.severity === 'note' || !isFolder(byPath.get(hit.path))) continue;
    const old = folders.get(hit.path);
    if (old === undefined || SEVERITY_RANK[hit.severity] < SEVERITY_RANK[old.severity]) folders.set(hit.path, hit);
  }
  if (folders.size === 0) return [];
  const found: Hit[] = [];
  for (const { path, ignored } of changes) {
    if (ignored === true || path.split('/').some(isDotGitName)) continue;
    let above: Hit | undefined;
    for (const folder of foldersAbove(path)) {
      const one = folders.get(folder);
      if (one !== undefined && (above === undefined || SEVERITY_RANK[one.severity] < SEVERITY_RANK[above.severity]))
        above = one;
    }
    const own = worst.get(path);
    if (above === undefined || (own !== undefined && SEVERITY_RANK[own] <= SEVERITY_RANK[above.severity])) continue;
    const { rule, severity, title, why } = above;
    found.push({ rule, severity, title, why, path, detail: `inside ${above.path}` });
  }
  return found;
}

/** Whether a path is a folder, or was one; a folder of a commit has no entry of its own. */
function isFolder(change: Change | undefined): boolean {
  return change === undefined || change.after?.kind === 'dir' || change.before?.kind === 'dir';
}
