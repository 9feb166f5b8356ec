import { RunClaudeError } from '../../../core/errors.ts';
import type { KnownRepository } from '../repositories.ts';
import { FUNCTIONS, type InsideRequest, runInside, unreadable } from './run-inside.ts';

/** What a session's repository says of its commits. Nothing of it is verified, and nothing is cleaned for the terminal. */
export interface ListedCommits<Of> {
  readonly repository: Of;
  readonly count: number;
  /** First lines of the newest commits, the newest first, cut off after a screen's width or two. */
  readonly titles: readonly string[];
  /** Refs of other kinds than branches, `OID NAME`: tags, notes, the stash, replacements. */
  readonly others: readonly string[];
}

/**
 * The commits of the session on branches or on a detached HEAD, for each of `repositories` that can be read, in their order.
 * Read in a container without network, as by {@link bundleCommits}.
 *
 * @throws {RunClaudeError} COMMITS_UNREADABLE and what the engine throws.
 */
export async function listCommits<Of extends KnownRepository>(
  request: InsideRequest,
  repositories: readonly Of[],
): Promise<readonly ListedCommits<Of>[]> {
  if (repositories.length === 0) return [];
  const words = repositories.flatMap(({ path, inside, known }) => [path, inside, `${known.length}`, ...known]);
  const most = `${Math.ceil(MAX_OTHER_REFS / repositories.length)}`;
  const { status, output, isCut, errorText } = await runInside(request, [LIST, 'commits', most, ...words], {
    maxBytes: MAX_LIST_BYTES,
    timeoutMs: LIST_TIMEOUT_MS,
  });
  if (status !== 0 || isCut) throw unreadable(status, errorText);
  const listed: { repository: Of; count: number; titles: string[]; others: string[] }[] = [];
  for (const line of output.toString('utf8').split('\n')) {
    const [, at, count] = /^([0-9]+) ([0-9]{1,9})$/.exec(line) ?? [];
    const repository = repositories[Number(at ?? -1)];
    if (repository !== undefined) listed.push({ repository, count: Number(count), titles: [], others: [] });
    else if (line.startsWith('=')) listed.at(-1)?.titles.push(line.slice(1));
    else if (line.startsWith('~')) listed.at(-1)?.others.push(line.slice(1));
  }
  return listed;
}

/**
 * A bundle of the commits that a session made on branches or on a detached HEAD, made in a container without network
 * by the image's git; undefined when there are none. Programs that the repository's configuration names run in that
 * container only. The bundle is as hostile as the session.
 *
 * @throws {RunClaudeError} COMMITS_TOO_LARGE, COMMITS_UNREADABLE and what the engine throws.
 */
export async function bundleCommits(
  request: InsideRequest,
  { path, inside, known }: KnownRepository,
  maxBytes: number,
): Promise<Buffer | undefined> {
  const words = [BUNDLE, 'commits', path, inside, ...known];
  const { status, output, isCut, errorText } = await runInside(request, words, {
    maxBytes,
    timeoutMs: BUNDLE_TIMEOUT_MS,
  });
  if (isCut) {
    throw new RunClaudeError('COMMITS_TOO_LARGE', `the session's commits take more than ${maxBytes} bytes`, {
      hint: 'Take the files by `run-claude apply`; `run-claude explore` shows the repository.',
    });
  }
  if (status === NO_COMMITS) return undefined;
  if (status !== 0) throw unreadable(status, errorText);
  return output;
}

const NO_COMMITS = 44;
const BUNDLE_TIMEOUT_MS = 300_000;
const LIST_TIMEOUT_MS = 60_000;
const MAX_LIST_BYTES = 16 << 20;
const MAX_TITLES = 3;
const MAX_OTHER_REFS = 10_000;
const MAX_LINE_BYTES = 500;

/** Arguments: WORK GIT COMMIT... */
const BUNDLE = `${FUNCTIONS}
enter "$1" "$2" || exit ${NO_COMMITS}
shift 2
set -- $(known "$@")
heads=$(heads)
[ -n "$(git rev-list $heads --max-count=1 "$@" --)" ] || exit ${NO_COMMITS}
exec git bundle create -q - $heads "$@"`;

/** Arguments: MOST, then for each repository: WORK GIT NUMBER COMMIT... */
const LIST = `${FUNCTIONS}
at=0 most=$1
shift
while [ $# -ge 3 ]; do
  work=$1 git=$2 count=$3 tips=
  shift 3
  while [ "$count" -gt 0 ]; do tips="$tips $1" count=$((count - 1)); shift; done
  (
    enter "$work" "$git" || exit 0
    set -- $(known $tips)
    heads=$(heads)
    count=$(git rev-list --count $heads "$@" --) || exit 0
    echo "$at $count"
    git log --max-count=${MAX_TITLES} --format='tformat:=%s' $heads "$@" --
    git for-each-ref --count="$most" --format='~%(objectname) %(refname)' refs/tags refs/notes refs/stash refs/replace
  ) | cut -b1-${MAX_LINE_BYTES}
  at=$((at + 1))
done
exit 0`;
