import { encodeBytes } from '../core/text/path.ts';
import type { Change } from '../core/types/entry.ts';
import type { Found } from './general-rules/rule.ts';
import type { Scene } from './input.ts';

const LONGEST_PATH = 1024;
const MAX_LEVELS = 60;

const levelsOf = (path: string): number => path.split('/').length;

export function tooLongPath({ input }: Scene, { path }: Change): readonly Found[] {
  const bytes = encodeBytes(path).length;
  if (bytes <= (input.maxPathBytes ?? Number.POSITIVE_INFINITY)) return [];
  return [{ detail: `${bytes} bytes, ${levelsOf(path)} levels` }];
}

export function longPath(_: Scene, { path }: Change): readonly Found[] {
  const levels = levelsOf(path);
  if (path.length <= LONGEST_PATH && levels <= MAX_LEVELS) return [];
  return [{ detail: `${path.length} characters, ${levels} levels` }];
}
