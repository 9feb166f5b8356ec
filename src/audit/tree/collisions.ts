import { isDotGitName } from '../../core/git/names.ts';
import { foldersOf, parentPath } from '../../core/text/path.ts';
import { foldPath } from '../formats/glob.ts';
import { skeleton } from '../formats/skeleton.ts';
import type { Found } from '../general-rules/rule.ts';
import type { Scene } from '../input.ts';

/** Every path after the session; modified ones come twice. */
function* livePaths({ input, byPath }: Scene): Generator<string> {
  for (const path of input.base?.paths ?? [])
    if (!byPath.has(path) || byPath.get(path)?.after !== undefined) yield path;
  for (const { path, after } of input.changes) if (after !== undefined) yield path;
}

/**
 * Findings for names that are equal without case, normal form and invisible characters, and for names that look alike.
 */
export function collisions(scene: Scene): readonly Found[] {
  const fresh = scene.input.changes.filter(
    (change) => change.before === undefined && change.after !== undefined && !change.path.split('/').some(isDotGitName),
  );
  if (fresh.length === 0) return [];
  const folded = new Map<string, Set<string>>();
  const alike = new Map<string, Set<string>>();
  // Only the forms of new names and their folders are searched for: the rest of a large project is skipped.
  const paths = fresh.map(({ path }) => path);
  const folders = foldersOf(paths);
  for (const path of [...paths, ...folders]) {
    folded.set(foldPath(path), new Set());
    alike.set(skeleton(path), new Set());
  }
  collectPaths(livePaths(scene), [
    { byForm: folded, form: foldPath },
    { byForm: alike, form: skeleton },
  ]);
  const found: Found[] = [];
  const report = (path: string): void => {
    const twin = [...(folded.get(foldPath(path)) ?? [])].find((one) => one !== path);
    if (twin !== undefined) return void found.push({ rule: 'name-collides', path, detail: twin });
    const look = [...(alike.get(skeleton(path)) ?? [])].find((one) => one !== path && foldPath(one) !== foldPath(path));
    if (look !== undefined) found.push({ rule: 'name-looks-alike', path, detail: look });
  };
  for (const path of paths) report(path);
  for (const dir of folders) if ((folded.get(foldPath(dir))?.size ?? 0) > 1) report(dir);
  return found;
}

/** Forms of paths that are searched for; each collects the paths that have it. */
interface FormQuery {
  readonly byForm: ReadonlyMap<string, Set<string>>;
  readonly form: (name: string) => string;
}

/**
 * Adds each path, folder or file, that has one of the forms to it. A form is computed component by component, so a folder
 * without a searched form costs one lookup for each file.
 */
function collectPaths(live: Iterable<string>, asked: readonly FormQuery[]): void {
  const askedIn = asked.map(({ byForm }) => new Set([...byForm.keys()].map(parentPath)));
  // The form of each folder that contains a searched form.
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
      const one = asked[at] as FormQuery;
      const from = above[at];
      if (from === undefined) continue;
      const name = one.form(path.slice(end + 1));
      one.byForm.get(from === '' ? name : `${from}/${name}`)?.add(path);
    }
  };
  for (const path of live) add(path);
}
