import type { LfsPointer } from '../../../core/git/lfs-pointer.ts';
import { FUNCTIONS, type InsideRequest, runInside, unreadable } from '../bundles/run-inside.ts';
import type { Repository } from '../repositories.ts';

/** More than any set of objects that is worth an import by copies. */
export const MAX_LFS_BYTES: number = 8 * 1024 ** 3;
const TIMEOUT_MS = 3_600_000;
const MAX_OBJECTS = 10_000;
const HEADER_BYTES = 100;

/**
 * Streams objects of Git LFS out of a session's repository: those of `wanted` that it has, each as a line `OID SIZE` and its
 * bytes. Read in a container without network; the stream is as hostile as the session.
 *
 * @throws {RunClaudeError} COMMITS_UNREADABLE and what the engine throws.
 */
export async function sendLfsObjects(
  request: InsideRequest,
  { path, inside }: Pick<Repository, 'path' | 'inside'>,
  wanted: readonly LfsPointer[],
  take: (chunk: Buffer) => void,
): Promise<void> {
  for (let at = 0; at < wanted.length; at += MAX_OBJECTS) {
    const batch = wanted.slice(at, at + MAX_OBJECTS);
    const words = batch.flatMap(({ oid, size }) => [oid, `${size}`]);
    const bytes = batch.reduce((sum, { size }) => sum + size + HEADER_BYTES, 0);
    const options = { maxBytes: bytes, timeoutMs: TIMEOUT_MS, take };
    const { status, errorText } = await runInside(request, [SEND, 'objects', path, inside, ...words], options);
    if (status !== 0) throw unreadable(status, errorText);
  }
}

/** Arguments: WORK GIT, then OID SIZE of each object. */
const SEND = `${FUNCTIONS}
enter "$1" "$2" || exit 0
shift 2
store=$(git rev-parse --path-format=absolute --git-common-dir)/lfs/objects
while [ $# -ge 2 ]; do
  file=$store/$(printf %.2s "$1")/$(printf %.2s "\${1#??}")/$1
  if [ -f "$file" ] && [ "$(wc -c <"$file")" -eq "$2" ]; then
    echo "$1 $2"
    cat "$file"
  fi
  shift 2
done`;
