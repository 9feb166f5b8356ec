/** A word of this length, without its dashes, may be the beginning of another. */
const MIN_PREFIX = 3;

/**
 * The candidate nearest to a mistyped word: the shortest that begins with it, otherwise by edits. Undefined when none is
 * near. `replaced`: how many edits a replaced letter counts.
 */
export function nearest(word: string, candidates: Iterable<string>, replaced: 1 | 2 = 1): string | undefined {
  const all = [...candidates];
  return completed(word, all) ?? nearestByEdits(word, all, replaced);
}

function completed(word: string, candidates: readonly string[]): string | undefined {
  if (word.replace(/^-+/, '').length < MIN_PREFIX) return undefined;
  const longer = candidates.filter(
    (one) => one.length > word.length && one.toLowerCase().startsWith(word.toLowerCase()),
  );
  return longer.sort((one, other) => one.length - other.length)[0];
}

function nearestByEdits(word: string, candidates: readonly string[], replaced: number): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase(), replaced);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** The number of insertions, deletions and swaps of neighbours, and of replacements by their weight, from one word to the other. */
function editDistance(from: string, to: string, replaced: number): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1];
      let cost = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + (same ? 0 : replaced));
      const swapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      if (swapped) cost = Math.min(cost, at(beforeLast, j - 2) + 1);
      row.push(cost);
    }
    beforeLast = last;
    last = row;
  }
  return at(last, to.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
