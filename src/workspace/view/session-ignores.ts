import type { RelPath } from '../../core/text/path.ts';
import type { Collector } from '../collector/client.ts';
import { baseIgnoreRules, type IgnoreRules } from '../collector/ignored.ts';
import type { ComparedEntry } from './collect/compare-layer-to-base.ts';

/** Limits for one ignore file of the session; beyond them it is not read. */
const MAX_IGNORE_BYTES = 1 << 16;
const MAX_IGNORE_LINES = 2000;
/** A pattern of the session with more stars could take for ever to match. */
const MAX_STARS = 4;

/**
 * The base's ignore rules with the session's own `.gitignore` files in the place of those that it changed; undefined where
 * it changed none. They only show what the session un-ignores, so that it can be offered: they decide nothing.
 */
export function sessionIgnoreRules(
  collector: Pick<Collector, 'stat' | 'readUpTo'>,
  pairs: readonly ComparedEntry[],
): IgnoreRules | undefined {
  const changed = new Map<string, ComparedEntry>(
    pairs.filter(({ path }) => /(^|\/)\.gitignore$/.test(path)).map((pair) => [pair.path, pair]),
  );
  if (changed.size === 0) return undefined;
  return baseIgnoreRules({
    stat: async (root, path) => (changed.has(path) ? changed.get(path)?.after : collector.stat(root, path)),
    readUpTo: (root, path, max) =>
      changed.has(path) ? harmlessLines(collector, path) : collector.readUpTo(root, path, max),
  });
}

async function* harmlessLines(collector: Pick<Collector, 'readUpTo'>, path: RelPath): AsyncGenerator<Buffer> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of collector.readUpTo('upper', path, MAX_IGNORE_BYTES)) chunks.push(chunk);
  } catch (error) {
    // Too large, or not readable: it un-ignores nothing then, and the change itself is blocked where it must be.
    if ((error as { code?: string }).code !== 'COLLECTOR_READ') throw error;
    yield Buffer.from('*\n');
    return;
  }
  const lines = Buffer.concat(chunks).toString('utf8').split('\n').slice(0, MAX_IGNORE_LINES);
  yield Buffer.from(lines.filter((line) => line.split('*').length - 1 <= MAX_STARS && line.length <= 1000).join('\n'));
}
