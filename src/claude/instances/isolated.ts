import { createHash } from 'node:crypto';
import type { Instance } from './instance.ts';

/** Where the volume of `--isolate-claude-data` is mounted, relative to the home: Claude keeps conversations here. */
export const ISOLATED_DIR = '.claude/projects';

/** What Claude keeps beside its conversations, and where it lies in the volume. */
export const ISOLATED_LINKS: readonly { readonly path: string; readonly target: string }[] = [
  'history.jsonl',
  'todos',
  'tasks',
  'plans',
].map((name) => ({ path: `.claude/${name}`, target: `projects/.kept-${name}` }));

/** The engine volume of a project: of this person's instance of it, whoever else uses the engine. */
export function dataVolume({ dir }: Pick<Instance, 'dir'>): string {
  return `run-claude-data-${createHash('sha256').update(dir).digest('hex').slice(0, 16)}`;
}

/** Stands in the session label of that volume, so that gc knows whose it is. */
export function dataLabel({ key }: Pick<Instance, 'key'>): string {
  return `data-${key}`;
}
