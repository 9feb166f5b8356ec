import { RunClaudeError } from '../../core/errors.ts';
import type { Change, ContentReader, Entry } from '../../core/types/entry.ts';
import {
  collidingPaths,
  contentsOf,
  FORMAT_NAME,
  FORMAT_VERSION,
  hasTooManyEntries,
  MAX_CHANGES,
  MAX_CONTENT_BYTES,
  MAX_FILE_BYTES,
  MAX_MANIFEST_BYTES,
  type Origin,
  type SetChange,
  type SetEntry,
  type SetManifest,
  whyPathRefused,
} from './format.ts';
import { paddingOf, TAR_END, tarHeader } from './tar.ts';

export const MANIFEST_NAME = 'manifest.json';
export const CONTENT_PREFIX = 'content/';

/** Changes as a change set holds them, and the paths that it cannot hold. */
export interface Exportable {
  readonly changes: readonly SetChange[];
  /** Not in the change set: names that it refuses, and what is neither file, folder nor link. */
  readonly leftOut: readonly string[];
}

/** The changes of a session outside of `.git`. Commits have their own way (`commits --import`). Pure. */
export function exportableChanges(changes: readonly Change[]): Exportable {
  const found: SetChange[] = [];
  const leftOut: string[] = [];
  for (const change of changes) {
    if (change.inGit === true) continue;
    const { path, before, after, problem } = change;
    const isPlain = [before, after].every(
      (side) => side === undefined || ['file', 'dir', 'symlink'].includes(side.kind),
    );
    if (whyPathRefused(path) !== undefined || !isPlain) {
      leftOut.push(path);
      continue;
    }
    const isUnreadable = problem !== undefined || [before, after].some(lacksContent);
    found.push({
      path,
      ...(before && { before: setEntry(before) }),
      ...(after && { after: setEntry(after) }),
      ...(isUnreadable && { unreadable: true as const }),
    });
  }
  const colliding = collidingPaths(found.flatMap(({ path, after }) => (after === undefined ? [] : [path])));
  return {
    changes: found.filter(({ path }) => !colliding.has(path)),
    leftOut: [...leftOut, ...colliding].sort(),
  };
}

function lacksContent(side: Entry | undefined): boolean {
  if (side?.kind === 'file') return side.digest === undefined || side.size > MAX_FILE_BYTES;
  return side?.kind === 'symlink' && (side.target === undefined || side.target === '');
}

function setEntry({ kind, mode, size, digest, target }: Entry): SetEntry {
  return {
    kind: kind as SetEntry['kind'],
    mode,
    size: Math.min(size, MAX_FILE_BYTES),
    ...(digest !== undefined && { digest }),
    ...(target !== undefined && target !== '' && { target }),
  };
}

/**
 * The bytes of a change set. Each content is read from the store and hashed on the way.
 *
 * @throws {RunClaudeError} CHANGE_SET_TOO_LARGE before the first byte; CONTENT_MISSING, CONTENT_DAMAGED.
 */
export function* changeSetBytes(
  origin: Origin,
  changes: readonly SetChange[],
  store: Pick<ContentReader, 'pieces'>,
): Generator<Uint8Array> {
  const manifest: SetManifest = { format: FORMAT_NAME, version: FORMAT_VERSION, origin, changes };
  const json = Buffer.from(`${JSON.stringify(manifest)}\n`);
  const contents = contentsOf(changes);
  const total = contents.reduce((sum, { size }) => sum + size, 0);
  const isTooLarge = changes.length > MAX_CHANGES || json.length > MAX_MANIFEST_BYTES || total > MAX_CONTENT_BYTES;
  if (isTooLarge || hasTooManyEntries(changes.map(({ path }) => path))) throw tooLarge();
  yield tarHeader({ name: MANIFEST_NAME, size: json.length });
  yield json;
  yield Buffer.alloc(paddingOf(json.length));
  for (const { digest, size } of contents) {
    yield tarHeader({ name: CONTENT_PREFIX + digest, size });
    yield* store.pieces(digest);
    yield Buffer.alloc(paddingOf(size));
  }
  yield TAR_END;
}

function tooLarge(): RunClaudeError {
  const most = `${MAX_CHANGES} changes and ${MAX_CONTENT_BYTES >> 30 || MAX_CONTENT_BYTES / 2 ** 30} GiB`;
  return new RunClaudeError('CHANGE_SET_TOO_LARGE', `the session has more than a change set can hold (${most})`, {
    hint: 'Apply it here, and hand on the commits.',
  });
}
