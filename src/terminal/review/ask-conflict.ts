import { fileDiff } from '../../review/file-diff.ts';
import type { Conflict, ConflictAnswer, ConflictRule } from '../../types/conflict.ts';
import { askLine, type Screen } from '../ask.ts';
import { cleanLine } from '../clean.ts';
import { page } from '../pager.ts';
import { diffLines } from './diff-view.ts';
import { say } from './show.ts';

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
  const keys = [...ways.map(([key]) => key), ...(conflict.versions === undefined ? [] : ['d']), '?'];
  const names = ways.map(([, { name }]) => name);
  const question = `[sandbox] ${names.slice(0, -1).join(', ')} or ${names.at(-1)}? [${keys.join('/')}]:`;
  say(screen, [`Conflict in ${cleanLine(conflict.path)}: ${cleanLine(conflict.why)}`]);
  for (;;) {
    const line = await askLine(screen, question);
    if (line === undefined) return { rule: 'keep', forAll: true };
    const [key = 'k', all] = line.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const way = ways.find(([candidate]) => candidate === key)?.[1];
    if (way !== undefined && (all === undefined || all === 'all')) return { rule: way.rule, forAll: all === 'all' };
    if (key === 'd' && conflict.versions !== undefined) await showVersions(screen, conflict, conflict.versions);
    else say(screen, helpFor(ways, conflict));
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
