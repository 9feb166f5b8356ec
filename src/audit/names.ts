import type { Change } from '../core/types/entry.ts';
import type { Severity } from '../core/types/finding.ts';
import { lazy } from './formats/lazy.ts';
import { GENERAL_RULES } from './general-rules/all.ts';
import type { GeneralRule, NameLook } from './general-rules/rule.ts';
import { runLooks } from './general-rules/run-looks.ts';
import { type Hit, hitOf } from './hit.ts';
import type { Scene } from './input.ts';

interface NameCheck {
  readonly rule: GeneralRule;
  readonly look: NameLook;
}

/** The looks of all rules at the components of a path. */
const checks = lazy(() =>
  GENERAL_RULES.flatMap((rule) =>
    rule.look.flatMap((look): NameCheck[] => (look.kind === 'name' ? [{ rule, look }] : [])),
  ),
);

/** A name such as `-Name.kt`: two and more in the base are a convention of the project. */
const CONVENTIONAL = /(?:^|\/)([-+@])[A-Za-z_]\w*(\.\w{1,10})$/;
const conventions = new WeakMap<Scene, ReadonlyMap<string, number>>();

/** Whether the base has names with the same first character and extension, and the name cannot be an option's value. */
function isConvention(scene: Scene, path: string): boolean {
  const keyOf = (one: string): string | undefined => {
    const match = CONVENTIONAL.exec(one);
    return match === null ? undefined : `${match[1]}${match[2]}`;
  };
  const own = keyOf(path);
  if (own === undefined) return false;
  let counts = conventions.get(scene);
  if (counts === undefined) {
    const made = new Map<string, number>();
    for (const one of scene.input.base?.paths ?? []) {
      const key = keyOf(one);
      if (key !== undefined) made.set(key, (made.get(key) ?? 0) + 1);
    }
    conventions.set(scene, made);
    counts = made;
  }
  return (counts.get(own) ?? 0) >= 2;
}

/** Findings for the name of a new entry. */
export function nameHits(scene: Scene, change: Change): Hit[] {
  if (change.before !== undefined || change.after === undefined) return [];
  const parts = change.path.split('/');
  const isFile = change.after.kind !== 'dir';
  const firstAt = new Map<NameCheck, number>();
  for (const [index, part] of parts.entries())
    for (const check of checksOf(scene, part)) {
      const counts = !check.look.filesOnly || (isFile && index === parts.length - 1);
      if (counts && !firstAt.has(check)) firstAt.set(check, index);
    }
  const hits = firstAt.size === 0 ? [] : checkHits(scene, change, parts, firstAt);
  return [...hits, ...runLooks('path', change.path, scene, change)];
}

/** The names of folders are those of many files: each name is checked once. */
const checked = new WeakMap<Scene, Map<string, readonly NameCheck[]>>();

function checksOf(scene: Scene, part: string): readonly NameCheck[] {
  const known = checked.get(scene) ?? new Map<string, readonly NameCheck[]>();
  checked.set(scene, known);
  let found = known.get(part);
  if (found === undefined) {
    found = checks().filter(({ look }) => look.test(part));
    known.set(part, found);
  }
  return found;
}

const severityOf = ({ rule, look }: NameCheck): Severity => rule.cases?.[look.case ?? '']?.severity ?? rule.severity;

/** The hits of the checks that a component fails. `firstAt`: the first such component, by its number. */
function checkHits(
  scene: Scene,
  change: Change,
  parts: readonly string[],
  firstAt: ReadonlyMap<NameCheck, number>,
): Hit[] {
  const hits: Hit[] = [];
  for (const check of checks()) {
    const at = firstAt.get(check);
    const part = at === undefined ? undefined : parts[at];
    if (at === undefined || part === undefined) continue;
    if (check.rule.id === 'name-option' && at === parts.length - 1 && isConvention(scene, change.path)) continue;
    // The folder's own entry is reported, if it has one (in a commit it has none); its files need not repeat the finding.
    const folder = parts.slice(0, at + 1).join('/');
    if (at < parts.length - 1 && severityOf(check) !== 'blocked' && scene.hasFolder(folder)) {
      if (!check.look.test(parts.at(-1) ?? '')) continue;
    }
    hits.push(hitOf(check.rule, change.path, { case: check.look.case, detail: part }));
  }
  return hits;
}
