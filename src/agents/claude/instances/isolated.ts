import { createHash } from 'node:crypto';
import type { Instance } from './instance.ts';

/** Where the volume of `--isolate-claude-data` is mounted, relative to the home: Claude's directory of conversations. */
export const ISOLATED_DIR = '.claude/projects';

/** Links from Claude's other data to its place in the volume. */
export const ISOLATED_LINKS: readonly { readonly path: string; readonly target: string }[] = [
  'history.jsonl',
  'todos',
  'tasks',
  'plans',
].map((name) => ({ path: `.claude/${name}`, target: `projects/.kept-${name}` }));

/** The name of a project's volume. It depends on the user's instance: other users of the engine have their own. */
export function dataVolume({ dir }: Pick<Instance, 'dir'>): string {
  return `run-claude-data-${createHash('sha256').update(dir).digest('hex').slice(0, 16)}`;
}

/** The session label of that volume: gc finds its project by it. */
export function dataLabel({ key }: Pick<Instance, 'key'>): string {
  return `data-${key}`;
}
