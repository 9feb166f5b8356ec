import { readFileSync } from 'node:fs';
import type { BaseReader } from '../../audit/input.ts';
import { resolveInBase } from '../../audit/links.ts';
import { isFollowed } from '../../audit/reach/extract/languages.ts';
import { wantsBaseContent } from '../../audit/reach/referrers.ts';
import type { RelPath } from '../../core/text/path.ts';
import { type BaseTree, openBaseTree } from '../../workspace/base/base-tree.ts';
import type { BasePlace } from './protocol.ts';

/** Larger files are generated, not written by hand: what they refer to is not followed. */
const MAX_FOLLOWED_BYTES = 1 << 20;

/**
 * The project before the session: every path, the targets of links, and the content of files that refer to others.
 * `.git/config` is the user's own file as it is at the end, since the copy's was cleaned when the project was copied.
 * Yields after each entry. Throws errors of the disk.
 */
export function readBase({ manifest, trees, gitConfig }: BasePlace): Generator<void, BaseReader> {
  return readTree(openBaseTree(manifest, trees), gitConfig);
}

/** As {@link readBase}, of a tree that is open. */
export function* readTree(tree: BaseTree, gitConfig: string | undefined): Generator<void, BaseReader> {
  const paths = new Set<string>();
  const targets = new Map<string, string>();
  const contents = new Map<string, Buffer>();
  /** Entries other than files, and files that are too large to be followed. */
  const notFollowed = new Set<string>();
  const executables = new Set<string>();
  const setgidFolders = new Set<string>(isSetgid(tree.rootMode() ?? 0) ? [''] : []);
  for (const entry of tree.entries()) {
    yield;
    paths.add(entry.path);
    if (entry.kind === 'file' && (entry.mode & 0o111) !== 0) executables.add(entry.path);
    if (entry.kind === 'dir' && isSetgid(entry.mode)) setgidFolders.add(entry.path);
    const target = entry.kind === 'symlink' ? tree.target(entry.path) : undefined;
    if (target !== undefined) targets.set(entry.path, target);
    if (entry.kind !== 'file' || entry.size > MAX_FOLLOWED_BYTES) notFollowed.add(entry.path);
    else if (wantsBaseContent(entry.path)) {
      const content = tree.read(entry.path);
      if (content !== undefined) contents.set(entry.path, content);
    }
  }
  const linkTarget = (one: string): string | undefined => targets.get(one);
  const linked = new Set([...targets].map(([link, target]) => resolveInBase(linkTarget, link, target)));
  // The audit compares what replaced a link with the file that the link led to, and follows programs and documents that
  // other files name. Such files are read when it asks.
  const read = (one: string): Buffer | undefined => {
    if (one === '.git/config') return gitConfig === undefined ? undefined : readIfPresent(gitConfig);
    const known = contents.get(one);
    if (known !== undefined || !paths.has(one)) return known;
    const isRead = linked.has(one) || (!notFollowed.has(one) && isFollowed(one));
    return isRead ? tree.read(one as RelPath) : undefined;
  };
  return { paths, executables, setgidFolders, read, linkTarget };
}

const isSetgid = (mode: number): boolean => (mode & 0o2000) !== 0;

/** The configuration of the user's repository: a file of the host, which no session writes. */
function readIfPresent(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
