import { formatSizeMb } from '../../core/config/values/quantities.ts';
import { RunClaudeError, usageError } from '../../core/errors.ts';
import { jsonText } from '../../core/report/json.ts';
import { whenText } from '../../core/text/when.ts';
import type { SessionRecord } from '../../core/types/session.ts';
import { type KnownCache, knownCaches } from '../../environment/caches/marker.ts';
import { removeCache } from '../../environment/caches/sweep.ts';
import { listSessions, ownerState } from '../../session/record/session.ts';
import { cleanLine } from '../../terminal/clean.ts';
import type { CommandContext, CommandRun } from '../context/context.ts';
import { openEngine } from '../engines/open-engine.ts';

/** Characters of an address that a list shows; any beginning that only one cache has names it. */
const SHOWN_DIGITS = 12;
const MIN_DIGITS = 4;

/** `cache [rm CACHE… | rm --all]`: lists the caches of packages, or removes some. */
export const cacheCommand: CommandRun = async (line, context) => {
  const [verb, ...names] = line.words;
  const known = knownCaches(context.places.cacheDir);
  const { sessions } = listSessions(context.places.stateDir);
  if (verb === undefined) {
    if (line.options.has('all')) throw usageError('cache: --all belongs to rm', 'Write run-claude cache rm --all.');
    list(known, sessions, line.options.has('json'), context);
    return 0;
  }
  if (verb !== 'rm')
    throw usageError(`cache: unexpected '${verb}'`, 'Write run-claude cache, or run-claude cache rm CACHE.');
  const all = line.options.has('all');
  if (all !== (names.length === 0))
    throw usageError('cache rm: name caches, or add --all', 'run-claude cache lists them.');
  await remove(all ? known : names.map((name) => named(name, known)), sessions, context);
  return 0;
};

function list(
  known: readonly KnownCache[],
  sessions: readonly SessionRecord[],
  asJson: boolean,
  context: CommandContext,
): void {
  const rows = known.map(({ address, marker, usedMs }) => ({
    cache: address.slice(0, SHOWN_DIGITS),
    ecosystem: marker?.ecosystem,
    project: marker?.project,
    lockFiles: marker?.lockFiles ?? [],
    packages: marker?.packages ?? marker?.paths.length,
    bytes: marker?.bytes,
    filled: marker?.filled,
    lastUsed: new Date(usedMs).toISOString(),
    usedBy: usersOf(address, sessions).map(({ id }) => id),
  }));
  if (asJson) {
    context.write(jsonText(rows));
    return;
  }
  for (const { cache, ecosystem, project, packages, bytes, filled, lastUsed, usedBy } of rows) {
    const facts =
      filled === undefined || bytes === undefined
        ? ['not filled to the end']
        : [
            `${packages} ${packages === 1 ? 'package' : 'packages'}`,
            formatSizeMb(Math.ceil(bytes / 1024 ** 2)),
            `filled ${whenText(filled, Date.now())}`,
          ];
    const users = usedBy.length === 0 ? 'no session' : usedBy.join(', ');
    context.write(
      `${cache}  ${(ecosystem ?? '-').padEnd(6)}  ${cleanLine(project ?? '-')}\n              ${[...facts, `used ${whenText(lastUsed, Date.now())}`, `by ${users}`].join(', ')}\n`,
    );
  }
  if (rows.length === 0)
    context.tell({ kind: 'message', level: 'info', text: 'There is no cache. A session with --cache npm fills one.' });
}

function usersOf(address: string, sessions: readonly SessionRecord[]): SessionRecord[] {
  return sessions.filter(({ plan }) => (plan.caches ?? []).some((cache) => cache.address === address));
}

function named(name: string, known: readonly KnownCache[]): KnownCache {
  const found = name.length < MIN_DIGITS ? [] : known.filter(({ address }) => address.startsWith(name));
  const [one, other] = found;
  if (one !== undefined && other === undefined) return one;
  throw new RunClaudeError(
    'CACHE_UNKNOWN',
    one === undefined ? `there is no cache ${cleanLine(name)}` : `more than one cache begins with ${cleanLine(name)}`,
    { hint: 'run-claude cache lists them.' },
  );
}

async function remove(
  caches: readonly KnownCache[],
  sessions: readonly SessionRecord[],
  context: CommandContext,
): Promise<void> {
  for (const { address } of caches) {
    const running = usersOf(address, sessions).find((session) => ownerState(session) !== 'ended');
    if (running !== undefined)
      throw new RunClaudeError(
        'CACHE_IN_USE',
        `session ${running.id} uses the cache ${address.slice(0, SHOWN_DIGITS)}`,
        {
          hint: `End it first: run-claude stop ${running.id}`,
        },
      );
  }
  const engine = caches.length === 0 ? undefined : await openEngine('auto', context).catch(() => undefined);
  try {
    for (const cache of caches) {
      await removeCache(context.places.cacheDir, cache, engine);
      context.write(`removed ${cache.address.slice(0, SHOWN_DIGITS)}\n`);
    }
  } finally {
    await engine?.close();
  }
}
