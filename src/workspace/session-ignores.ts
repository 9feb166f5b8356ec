import type { Collector } from '../collector/client.ts';
import { baseIgnoreRules, type IgnoreRules } from '../collector/ignored.ts';
import type { RelPath } from '../text/path.ts';
import type { Pair } from './compare-layer-to-base.ts';

/** Of one ignore file of the session; what is longer or has more is not looked at. */
const SESSION_IGNORE_BYTES_MAX = 1 << 16;
const SESSION_IGNORE_LINES_MAX = 2000;
/** A pattern of the session with more of them could take for ever to match. */
const STARS_MAX = 4;

/**
 * The base's ignore rules with the session's own `.gitignore` files in the place of those that it changed; undefined where
 * it changed none. They only tell what the session un-ignores, so that it can be offered: nothing is decided by them.
 */
export function sessionIgnoreRules(
  collector: Pick<Collector, 'stat' | 'readUpTo'>,
  pairs: readonly Pair[],
): IgnoreRules | undefined {
  const changed = new Map<string, Pair>(
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
    for await (const chunk of collector.readUpTo('upper', path, SESSION_IGNORE_BYTES_MAX)) chunks.push(chunk);
  } catch (error) {
    // Too large, or not readable: it un-ignores nothing then, and the change itself is blocked where it must be.
    if ((error as { code?: string }).code !== 'COLLECTOR_READ') throw error;
    yield Buffer.from('*\n');
    return;
  }
  const lines = Buffer.concat(chunks).toString('utf8').split('\n').slice(0, SESSION_IGNORE_LINES_MAX);
  yield Buffer.from(lines.filter((line) => line.split('*').length - 1 <= STARS_MAX && line.length <= 1000).join('\n'));
}
