import { fileDiff } from '../../review/file-diff.ts';
import type { Conflict, ConflictAnswer, ConflictRule } from '../../types/conflict.ts';
import type { Screen } from '../ask.ts';
import { askKey } from '../ask-key.ts';
import { cleanLine } from '../clean.ts';
import { page } from '../pager.ts';
import { say } from '../say.ts';
import { diffLines } from './diff-view.ts';

interface Way {
  readonly rule: ConflictRule;
  /** For the question. */
  readonly name: string;
  readonly help: string;
}

const WAYS: Readonly<Record<string, Way>> = {
  k: { rule: 'keep', name: 'Keep mine', help: 'keep your file; the change stays pending' },
  t: { rule: 'theirs', name: 'take theirs', help: "replace your file by the session's version" },
  m: { rule: 'markers', name: 'write markers', help: 'write both versions between conflict markers' },
  f: { rule: 'file', name: 'file beside', help: "keep your file, and write the session's version to NAME.session" },
};

/**
 * Asks what becomes of a conflict. Enter keeps the user's file; Ctrl-C and end of input keep it for this conflict and
 * for all that follow. Preconditions: stdin and stderr are a terminal.
 */
export async function askConflict(screen: Screen, conflict: Conflict): Promise<ConflictAnswer> {
  const ways = Object.entries(WAYS).filter(([, { rule }]) => conflict.rules.includes(rule));
  const keys = [...ways.map(([key]) => key), ...(conflict.versions === undefined ? [] : ['d'])];
  const names = ways.map(([, { name }]) => name);
  const question = `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
  say(screen, [`Conflict in ${cleanLine(conflict.path)}: ${cleanLine(conflict.why)}`]);
  for (;;) {
    const help = helpFor(ways, conflict);
    const answer = await askKey(screen, { question, keys, help, onEnter: 'k', separator: '/', words: ['all'] });
    if (answer === undefined) return { rule: 'keep', forAll: true };
    const way = ways.find(([key]) => key === answer.key)?.[1];
    if (way !== undefined) return { rule: way.rule, forAll: answer.word === 'all' };
    if (conflict.versions !== undefined) await showVersions(screen, conflict, conflict.versions);
  }
}

function helpFor(ways: readonly [string, Way][], conflict: Conflict): string[] {
  return [
    ...ways.map(([key, { help }]) => `${key}      ${help}`),
    ...(conflict.versions === undefined ? [] : ["d      show what the session's version would change in your file"]),
    `${ways.at(-1)?.[0]} all  the same for this conflict and all that follow; so with each of these letters`,
  ];
}

async function showVersions(
  screen: Screen,
  { path }: Conflict,
  versions: NonNullable<Conflict['versions']>,
): Promise<void> {
  const change = { path, kind: 'modified' as const };
  const item = { change, state: 'clean' as const, findings: [] };
  try {
    const { host, session } = await versions();
    const view = { colour: screen.colour, columns: screen.stderr.columns ?? 80 };
    await page(screen, diffLines(item, fileDiff(change, host, session), view));
  } catch (error) {
    say(screen, [`The versions cannot be shown: ${cleanLine((error as Error).message)}`]);
  }
}
