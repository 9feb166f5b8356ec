import type { RelPath } from '../core/text/path.ts';
import { auditChanges } from './audit.ts';
import { isWatchedPath } from './files.ts';
import type { BaseReader } from './input.ts';
import { namesOfBase } from './reach/reached.ts';
import { readPrograms } from './reach/walk.ts';
import { readKinds } from './tree/new-kinds.ts';

/** After so many changes of each kind the tables are built and the expressions compiled. */
const ROUNDS = 40;
const KINDS = ['a.ts', 'a.py', 'a.md', 'a.json', 'package.json', 'Makefile', 'a.c', 'a.go'];
const LINE = "export const value = compute(1, 'text', { option: true }); // words of a comment\n";

/**
 * Builds ahead of time what the first audit needs, and reads the references of the base's files. Yields after each
 * small piece of work, so that the caller can pause.
 */
export function* warmUp(base: BaseReader): Generator<void> {
  // The tables of names.
  isWatchedPath('a');
  yield;
  for (const _ of namesOfBase(base)) yield;
  yield* readPrograms(base);
  for (const _ of readKinds(base)) yield;
  for (let round = 0; round < ROUNDS; round += 1)
    for (const name of KINDS) {
      auditOne(`${round}/${name}`);
      yield;
    }
}

function auditOne(path: string): void {
  const before = Buffer.from(LINE.repeat(20));
  const after = Buffer.from(LINE.repeat(20).replaceAll('text', path));
  const file = (digest: string, { length }: Buffer) =>
    ({ kind: 'file', mode: 0o644, size: length, mtimeNs: '0', digest }) as const;
  auditChanges({
    changes: [{ path: path as RelPath, kind: 'modified', before: file('before', before), after: file('after', after) }],
    content: (digest) => (digest === 'before' ? before : after),
  });
}
