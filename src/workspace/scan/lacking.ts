import type { Lack } from '../../core/git/mark-index.ts';
import { isInDotGit } from '../../core/git/names.ts';
import { liesBelow, parseRelPath } from '../../core/text/path.ts';
import type { Selection } from '../../core/text/selection.ts';

/** What a session's copy of a project lacks on purpose: it is the user's, and no way back may change it. */
export interface Lacking {
  /** '' where the copy lacks nothing; equal keys stand for the same paths. */
  readonly key: string;
  /** How the copy lacks what the project has, or may have, at a path; undefined for what the copy would have. */
  lackOf(path: string, isDirectory?: boolean): Lack | undefined;
}

/**
 * What a copy lacks: what the rules leave out or mask, what could not be copied (`leftOut`: special files, and what cannot
 * be read), with everything below it, and the files that have decoys (`masked`). This is the only place that knows: git's index in the copy, the collection of
 * changes, imported change sets and the gate of commits all ask it.
 */
export function lackingPaths(selection: Selection, leftOut: Iterable<string>, masked: Iterable<string> = []): Lacking {
  // A socket of git's own, for example, does not belong to the project's content.
  const out = new Set([...leftOut].filter((path) => !isInDotGit(path)));
  const isBelow = (path: string): boolean => out.size > 0 && (out.has(path) || liesBelow(path, out));
  const paths = [...out].sort();
  const decoyed = new Set(masked);
  return {
    key: selection.key === '' && out.size === 0 ? '' : JSON.stringify([selection.key, ...paths]),
    lackOf(path, isDirectory = false) {
      // An index that came with a project may name anything.
      if (parseRelPath(path) === undefined) return undefined;
      if (selection.leftOut(path, isDirectory) || isBelow(path)) return 'absent';
      return selection.masked(path) || decoyed.has(path) ? 'empty' : undefined;
    },
  };
}
