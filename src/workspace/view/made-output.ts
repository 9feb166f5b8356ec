import { parentPath, type RelPath } from '../../core/text/path.ts';
import type { Collector } from '../collector/client.ts';
import type { IgnoreRules } from '../collector/ignored.ts';

/** The collector's root with what the setup made in the project. */
export const MADE_ROOT = 'environment';

/** In the project; made by the setup, with the topmost made directory; or new in the session. */
type Origin = { readonly kind: 'project' } | { readonly kind: 'made'; readonly top: string } | { readonly kind: 'new' };

/**
 * The rules, which also count what the setup made as ignored output: a path that the project does not have and the setup
 * made, with everything below it. What the project has itself is judged by the rules alone.
 */
export function withMadeOutput(rules: IgnoreRules, collector: Pick<Collector, 'stat'>): IgnoreRules {
  const folders = new Map<string, Promise<Origin>>([['', Promise.resolve({ kind: 'project' })]]);
  const has = async (root: string, path: string): Promise<boolean> =>
    (await collector.stat(root, path as RelPath)) !== undefined;
  const find = async (path: string): Promise<Origin> => {
    const above = await originOfFolder(parentPath(path));
    if (above.kind !== 'project') return above;
    if (await has('base', path)) return { kind: 'project' };
    return (await has(MADE_ROOT, path)) ? { kind: 'made', top: path } : { kind: 'new' };
  };
  const originOfFolder = (folder: string): Promise<Origin> => {
    const known = folders.get(folder) ?? find(folder);
    folders.set(folder, known);
    return known;
  };
  return {
    async top(path, directory) {
      const origin = await (directory ? originOfFolder(path) : find(path));
      return origin.kind === 'made' ? origin.top : rules.top(path, directory);
    },
    async whole(dir) {
      return (await originOfFolder(dir)).kind === 'made' || rules.whole(dir);
    },
  };
}
