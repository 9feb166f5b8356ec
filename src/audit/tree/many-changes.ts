import { isDotGitName } from '../../core/git/names.ts';
import type { Found } from '../general-rules/rule.ts';
import type { Scene } from '../input.ts';

const MANY = 2000;

export function manyChanges(scene: Scene): readonly Found[] {
  const live = scene.input.changes.filter(
    (change) => change.ignored !== true && !change.path.split('/').some(isDotGitName),
  );
  if (live.length < MANY) return [];
  return [{ path: '.', detail: `${live.length} entries` }];
}
