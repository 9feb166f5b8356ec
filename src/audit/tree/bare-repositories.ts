import { isDotGitName } from '../../core/git/names.ts';
import { foldersAbove } from '../../core/text/path.ts';
import { lazy } from '../formats/lazy.ts';
import type { Found } from '../general-rules/rule.ts';
import type { Scene } from '../input.ts';

const PARTS = new Set(['head', 'objects', 'refs', 'config', 'hooks', 'commondir']);

/** Folders with HEAD, objects and refs, whatever their name: git takes them for a repository. */
export function bareRepositories(scene: Scene): readonly Found[] {
  const seen = new Map<string, Set<string>>();
  for (const change of scene.input.changes) {
    const parts = change.path.split('/');
    if (change.after === undefined || parts.some(isDotGitName)) continue;
    for (const [index, part] of parts.entries()) {
      const name = part.toLowerCase();
      if (!PARTS.has(name)) continue;
      const dir = parts.slice(0, index).join('/');
      const set = seen.get(dir) ?? new Set();
      seen.set(dir, set.add(name));
    }
  }
  const inBase = lazy(() => repositoryParts(scene.input.base?.paths ?? [], seen));
  const repositories = new Set<string>();
  for (const [dir, fresh] of seen) {
    const has = (name: string): boolean =>
      fresh.has(name) || scene.after(dir === '' ? name : `${dir}/${name}`) !== undefined;
    if (!has('head') && !has('HEAD')) continue;
    const holds = (name: string): boolean => has(name) || inBase().get(dir)?.has(name) === true;
    if (has('commondir') || (holds('objects') && holds('refs'))) repositories.add(dir);
  }
  if (repositories.size === 0) return [];
  const found: Found[] = [];
  for (const { path, after } of scene.input.changes) {
    if (after === undefined) continue;
    const dir = firstOf(foldersAbove(path), repositories);
    if (dir !== undefined) found.push({ path, detail: dir });
    else if (repositories.has('') && /^(HEAD|config|objects|refs|hooks|commondir)(\/|$)/i.test(path))
      found.push({ path, detail: 'the project itself' });
  }
  return found;
}

function firstOf(all: Iterable<string>, wanted: ReadonlySet<string>): string | undefined {
  for (const one of all) if (wanted.has(one)) return one;
  return undefined;
}

/** The folders of a repository that the base has in these directories. */
function repositoryParts(
  paths: Iterable<string>,
  dirs: ReadonlyMap<string, unknown>,
): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const path of paths) {
    for (const at of path.matchAll(/(?:^|\/)(objects|refs)(?=\/)/g)) {
      const dir = path.slice(0, at.index);
      if (!dirs.has(dir)) continue;
      const names = found.get(dir) ?? new Set();
      found.set(dir, names.add(at[1] as string));
    }
  }
  return found;
}
