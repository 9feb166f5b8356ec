import { isDotGitName } from '../git/names.ts';
import { foldPath } from './formats/glob.ts';
import { skeleton } from './formats/skeleton.ts';
import { type Hit, hitOf } from './hit.ts';
import { folderOf, foldersOf, type Scene } from './input.ts';

/** Every path that there is after the session; what it modified comes twice. */
function* livePaths({ input, byPath }: Scene): Generator<string> {
  for (const path of input.base?.paths ?? [])
    if (!byPath.has(path) || byPath.get(path)?.after !== undefined) yield path;
  for (const { path, after } of input.changes) if (after !== undefined) yield path;
}

/**
 * Names that are one name where case, normal form or invisible characters do not count, and names that only look alike.
 */
export function collisions(scene: Scene): Hit[] {
  const fresh = scene.input.changes.filter(
    (change) => change.before === undefined && change.after !== undefined && !change.path.split('/').some(isDotGitName),
  );
  if (fresh.length === 0) return [];
  const folded = new Map<string, Set<string>>();
  const alike = new Map<string, Set<string>>();
  // Only what the new names and their folders meet is of interest: the rest of a large project is passed by.
  const paths = fresh.map(({ path }) => path);
  for (const path of [...paths, ...foldersOf(paths)]) {
    folded.set(foldPath(path), new Set());
    alike.set(skeleton(path), new Set());
  }
  meet(livePaths(scene), [
    { byForm: folded, form: foldPath },
    { byForm: alike, form: skeleton },
  ]);
  const hits: Hit[] = [];
  const report = (path: string): void => {
    const twin = [...(folded.get(foldPath(path)) ?? [])].find((one) => one !== path);
    if (twin !== undefined) return void hits.push(hitOf('name-collides', path, { detail: twin }));
    const look = [...(alike.get(skeleton(path)) ?? [])].find((one) => one !== path && foldPath(one) !== foldPath(path));
    if (look !== undefined) hits.push(hitOf('name-looks-alike', path, { detail: look }));
  };
  for (const change of fresh) {
    report(change.path);
    for (let at = change.path.lastIndexOf('/'); at > 0; at = change.path.lastIndexOf('/', at - 1)) {
      const dir = change.path.slice(0, at);
      if ((folded.get(foldPath(dir))?.size ?? 0) > 1) report(dir);
    }
  }
  return hits;
}

/** What was asked for by one form of a path, and in which folders, in that form. */
interface Asked {
  readonly byForm: ReadonlyMap<string, Set<string>>;
  readonly form: (name: string) => string;
}

/**
 * Adds to what was asked for each live path, folder or file, that has the form. A form is made component by component,
 * so a folder of which nothing was asked costs one look a file.
 */
function meet(live: Iterable<string>, asked: readonly Asked[]): void {
  const askedIn = asked.map(({ byForm }) => new Set([...byForm.keys()].map(folderOf)));
  // Of each folder its form, where something in it was asked for by that form.
  const folders = new Map<string, readonly (string | undefined)[]>();
  const enter = (folder: string): readonly (string | undefined)[] => {
    if (folder !== '') add(folder);
    const forms = asked.map(({ form }, at) => {
      const formed = form(folder);
      return askedIn[at]?.has(formed) === true ? formed : undefined;
    });
    folders.set(folder, forms);
    return forms;
  };
  const add = (path: string): void => {
    const end = path.lastIndexOf('/');
    const folder = end < 0 ? '' : path.slice(0, end);
    const above = folders.get(folder) ?? enter(folder);
    for (let at = 0; at < above.length; at += 1) {
      const one = asked[at] as Asked;
      const from = above[at];
      if (from === undefined) continue;
      const name = one.form(path.slice(end + 1));
      one.byForm.get(from === '' ? name : `${from}/${name}`)?.add(path);
    }
  };
  for (const path of live) add(path);
}
