import { decodeBytes, nameOfPath } from '../../core/text/path.ts';
import { IgnorePatterns } from '../../core/text/patterns/ignore-patterns.ts';
import { lazy } from '../formats/lazy.ts';
import { newLines } from '../formats/lines.ts';
import { SECRET_NAME } from '../formats/secrets.ts';
import type { Found } from '../general-rules/rule.ts';
import type { Scene } from '../input.ts';

/** Changes of ignore files that hide a file of this session, or no longer hide a secret. */
export function hiddenByIgnore(scene: Scene): readonly Found[] {
  const found: Found[] = [];
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
    if (endless) found.push({ rule: 'ignore-hides', path: change.path, case: 'endless' });
    if (planted !== undefined) found.push({ rule: 'ignore-hides', path: change.path, detail: planted });
    const uncovered = [
      ...added.filter((line) => line.startsWith('!') && SECRET_NAME.test(line)),
      ...newLines(text, before)
        .map((line) => line.text)
        .filter((line) => SECRET_NAME.test(line) && !line.startsWith('!')),
    ];
    if (uncovered[0] !== undefined) found.push({ rule: 'ignore-uncovers', path: change.path, detail: uncovered[0] });
  }
  return found;
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
