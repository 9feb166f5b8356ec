import { parseConfig } from '../../core/git/config-parse.ts';
import { decodeBytes } from '../../core/text/path.ts';
import type { Found } from '../general-rules/rule.ts';
import type { Scene } from '../input.ts';

/** Changed files that the git configuration of the host's project names. */
export function hostConfigTargets(scene: Scene): readonly Found[] {
  const text = scene.input.base?.read('.git/config');
  if (text === undefined) return [];
  const found: Found[] = [];
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
      found.push({ path: change.path, detail: entry.key });
    }
  }
  return found;
}
