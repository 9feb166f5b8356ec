import { expect, it } from 'vitest';
import type { CacheName } from '../../../../../src/core/types/setup/cache.ts';
import { ecosystemOf } from '../../../../../src/environment/caches/ecosystems.ts';
import { checkArchives } from '../../../../../src/environment/caches/fill/check-archives.ts';

// A lock file is read on the host, before the session. Ctrl-C does not end a regular expression.

const MANY = 300_000;
/** Gradle's is refused without it. */
const END = '</verification-metadata>';
/** Reading takes some 100 ms; in quadratic time it takes minutes. */
const LIMIT_MS = 10_000;

const ROWS: readonly (readonly [CacheName, string, string])[] = [
  ['pnpm', 'entries', `packages:\n${'  a@1:\n'.repeat(MANY)}`],
  ['pnpm', 'names', `packages:\n${`  ${'@a/'.repeat(100)}@1:\n`.repeat(1000)}`],
  ['pnpm', 'peers', `packages:\n  a@1${'('.repeat(MANY)}`],
  ['pnpm', 'fields', `packages:\n${`  a@1:\n    resolution: {${'integrity: '.repeat(300)}}\n`.repeat(1000)}`],
  ['pnpm', 'spaces', `packages:\n${`  a@1:\n    resolution: {,${' '.repeat(3900)}}\n`.repeat(1000)}`],
  ['cargo', 'packages', '[[package]]\n'.repeat(MANY)],
  ['cargo', 'names without an end', `[[package]]\n${'name = "a\n'.repeat(MANY)}`],
  ['maven', 'lines', 'a\n'.repeat(MANY)],
  ['maven', 'spaces', ' '.repeat(MANY)],
  ['gradle', 'components without an end', '<component a>'.repeat(MANY)],
  ['gradle', 'components of one name', '<component '.repeat(MANY)],
  ['gradle', 'comments without an end', '<!--'.repeat(MANY)],
  ['gradle', 'artifacts without an end', `<component a>${'<artifact name="x">'.repeat(MANY)}</component>`],
  ['gradle', 'spaces', `<component a>${`<artifact${' '.repeat(MANY)}`}</component>`],
  ['yarn', 'entries', 'a@1:\n'.repeat(MANY)],
  ['yarn', 'versions without an end', '  version "'.repeat(MANY)],
  ['yarn', 'addresses', `a@1:\n  version "1"\n${'  resolved "https://x/'.repeat(MANY)}`],
  ['yarn', 'fragments', `a@1:\n  version "1"\n  resolved "https:${'#'.repeat(1900)}"\n`.repeat(1000)],
  ['yarn', 'slashes', `@${'/'.repeat(MANY)}:\n  version "1"\n`],
  ['yarn', 'carriage returns', '\r'.repeat(MANY)],
  ['pip', 'spaces', `${' '.repeat(MANY)}#`],
  ['pip', 'spaces in a line', `a${' '.repeat(MANY)}x`],
  ['pip', 'joined lines', '\\\n'.repeat(MANY)],
  ['pip', 'hashes', `a==1 ${'--hash=sha256:'.repeat(MANY)}`],
  ['pip', 'comments', `a ${'#'.repeat(MANY)}`],
  ['pip', 'carriage returns', '\\\r'.repeat(MANY)],
  // U+2028 ends a line for an expression, and not for pip's file.
  ['pip', 'comments without an end', `a${' #'.repeat(MANY)}\u2028`],
  ['go', 'lines', 'a\n'.repeat(MANY)],
  ['go', 'words', 'a v1 h1:'.repeat(MANY)],
  ['npm', 'lists', '['.repeat(MANY)],
  ['npm', 'dependencies of dependencies', `${'{"dependencies":{"a":'.repeat(20_000)}{}${'}}'.repeat(20_000)}`],
];

it('maven: lists in lists of a lockfile.json are read in time', () => {
  const start = performance.now();
  const lock = `${'{"a":['.repeat(20_000)}${']}'.repeat(20_000)}`;
  expect(ecosystemOf('maven').read(lock, 'lockfile.json').archives).toEqual([]);
  expect(performance.now() - start).toBeLessThan(LIMIT_MS);
});

it.each(ROWS)('%s: a lock file of %s is read in time', (name, _, text) => {
  const start = performance.now();
  const ecosystem = ecosystemOf(name);
  try {
    expect(checkArchives(ecosystem, [ecosystem.read(`${text}${name === 'gradle' ? END : ''}`, '')]).archives).toEqual(
      [],
    );
  } catch (error) {
    // The lock file is refused as a whole.
    expect((error as Error).message).toBe('it is not JSON');
  }
  expect(performance.now() - start).toBeLessThan(LIMIT_MS);
});
