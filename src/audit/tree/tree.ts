import { parseConfig } from '../../core/git/config-parse.ts';
import { isDotGitName } from '../../core/git/names.ts';
import { decodeBytes, foldersAbove, nameOfPath } from '../../core/text/path.ts';
import { IgnorePatterns } from '../../core/text/patterns/ignore-patterns.ts';
import { lazy } from '../formats/lazy.ts';
import { newLines } from '../formats/lines.ts';
import { SECRET_NAME } from '../formats/secrets.ts';
import { type Hit, hitOf } from '../hit.ts';
import type { Scene } from '../input.ts';
import { reachedHits } from '../reach/reached.ts';
import { collisions } from './collisions.ts';
import { newKindHits } from './new-kinds.ts';
import { pluginHits } from './plugins.ts';
import { shadowHits } from './shadows.ts';

const MANY = 2000;

/** Findings that need the whole set of changes: collisions, bare repositories, ignore rules, numbers. */
export function treeHits(scene: Scene, aliases: (path: string) => readonly string[]): Hit[] {
  return [
    ...collisions(scene),
    ...bareRepositories(scene),
    ...hiddenByIgnore(scene),
    ...hostConfigTargets(scene),
    ...reachedHits(scene, aliases),
    ...shadowHits(scene),
    ...pluginHits(scene),
    ...newKindHits(scene),
    ...counts(scene),
  ];
}

/** Folders with HEAD, objects and refs, whatever their name: git takes them for a repository. */
function bareRepositories(scene: Scene): Hit[] {
  const seen = new Map<string, Set<string>>();
  for (const change of scene.input.changes) {
    const parts = change.path.split('/');
    if (change.after === undefined || parts.some(isDotGitName)) continue;
    for (const [index, part] of parts.entries()) {
      const name = part.toLowerCase();
      if (
        name !== 'head' &&
        name !== 'objects' &&
        name !== 'refs' &&
        name !== 'config' &&
        name !== 'hooks' &&
        name !== 'commondir'
      )
        continue;
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
  const hits: Hit[] = [];
  for (const { path, after } of scene.input.changes) {
    if (after === undefined) continue;
    const dir = firstOf(foldersAbove(path), repositories);
    if (dir !== undefined) hits.push(hitOf('git-bare', path, { detail: dir }));
    else if (repositories.has('') && /^(HEAD|config|objects|refs|hooks|commondir)(\/|$)/i.test(path))
      hits.push(hitOf('git-bare', path, { detail: 'the project itself' }));
  }
  return hits;
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

/** Changes of ignore files that hide a file of this session, or no longer hide a secret. */
function hiddenByIgnore(scene: Scene): Hit[] {
  const hits: Hit[] = [];
  const files = lazy(() =>
    scene.input.changes
      .filter(({ after }) => after?.kind === 'file')
      .map(({ path }) => path)
      .sort(),
  );
  let left = MAX_MATCHES;
  for (const change of scene.input.changes) {
    const name = nameOfPath(change.path);
    if (!/^\.([a-z]{1,20})?ignore$|^\.aiexclude$/i.test(name) || change.after?.kind === 'symlink') continue;
    if (change.problem !== undefined) continue;
    scene.input.looksAt?.(change.path);
    const bytes = change.after === undefined ? Buffer.alloc(0) : scene.bytes(change.after);
    const old = scene.bytes(change.before);
    if (!Buffer.isBuffer(bytes) || bytes.length > 1 << 20) continue;
    const text = decodeBytes(bytes);
    const before = Buffer.isBuffer(old) ? decodeBytes(old) : undefined;
    const dir = change.path.slice(0, -name.length);
    const added = newLines(before, text)
      .map((line) => line.text)
      .filter((line) => !line.startsWith('#'));
    const rules = new IgnorePatterns({ lines: added, ignoreCase: true });
    const [from, to] = dir === '' ? [0, files().length] : rangeOf(files(), dir);
    // At least one step for each path: files of many names are ignore files.
    left -= (added.length + 1) * (to - from);
    const endless = left < 0 || added.some(isEndless);
    const isPlanted = (path: string): boolean => path !== change.path && rules.ignores(path.slice(dir.length), false);
    const planted = endless ? undefined : files().slice(from, to).find(isPlanted);
    if (endless) hits.push(hitOf('ignore-hides', change.path, { case: 'endless' }));
    if (planted !== undefined) hits.push(hitOf('ignore-hides', change.path, { detail: planted }));
    const uncovered = [
      ...added.filter((line) => line.startsWith('!') && SECRET_NAME.test(line)),
      ...newLines(text, before)
        .map((line) => line.text)
        .filter((line) => SECRET_NAME.test(line) && !line.startsWith('!')),
    ];
    if (uncovered[0] !== undefined) hits.push(hitOf('ignore-uncovers', change.path, { detail: uncovered[0] }));
  }
  return hits;
}

/** Lines times paths, of all ignore files together. */
const MAX_MATCHES = 1e7;
/** Where the paths below a folder, which ends with a slash, begin and end in the sorted list. */
function rangeOf(paths: readonly string[], folder: string): readonly [number, number] {
  const first = (isAfter: (path: string) => boolean): number => {
    let [from, to] = [0, paths.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (isAfter(paths[middle] as string)) to = middle;
      else from = middle + 1;
    }
    return from;
  };
  return [first((path) => path >= folder), first((path) => path > folder && !path.startsWith(folder))];
}

/** A pattern with more is taken for an attack. */
const MAX_ANY_FOLDERS = 3;

/** Whether tools that try one way after the other take for ever: a path's depth to the power of its `**`. */
function isEndless(line: string): boolean {
  return (line.match(/(?:^!?|\/)\*{2,}(?=\/)/g)?.length ?? 0) > MAX_ANY_FOLDERS;
}

/** Changed files that the git configuration of the host's project names. */
function hostConfigTargets(scene: Scene): Hit[] {
  const text = scene.input.base?.read('.git/config');
  if (text === undefined) return [];
  const hits: Hit[] = [];
  for (const entry of parseConfig(decodeBytes(text)).entries) {
    const value = entry.value ?? '';
    const words = value
      .split(/[\s"';|&]+/)
      .map((word) =>
        word.replace(/^(\.\/)+/, '').replace(/^(\.\.\/)(?!\.\.)/, entry.section.startsWith('include') ? '' : '../'),
      );
    for (const change of scene.input.changes) {
      const named = words.some(
        (word) =>
          word !== '' &&
          !word.startsWith('..') &&
          (change.path === word || change.path.startsWith(`${word.replace(/\/$/, '')}/`)),
      );
      if (
        !named ||
        !/hookspath|^path$|file|clean|smudge|process|textconv|command|template|program|driver|helper|editor|pager/.test(
          entry.name,
        )
      )
        continue;
      hits.push(hitOf('git-host-target', change.path, { detail: entry.key }));
    }
  }
  return hits;
}

function counts(scene: Scene): Hit[] {
  const live = scene.input.changes.filter(
    (change) => change.ignored !== true && !change.path.split('/').some(isDotGitName),
  );
  if (live.length < MANY) return [];
  return [hitOf('many-changes', '.', { detail: `${live.length} entries` })];
}
