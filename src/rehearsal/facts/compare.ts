import {
  REHEARSAL_EVADED,
  REHEARSED_CONNECTION,
  REHEARSED_DECOY_READ,
  REHEARSED_NOT_STARTED,
  REHEARSED_PROGRAM,
  REHEARSED_WRITE,
} from '../../audit/general-rules/rehearsed.ts';
import { type Hit, hitOf } from '../../audit/hit.ts';
import type { Finding } from '../../core/types/finding.ts';
import type { Scene } from '../scenes/scene.ts';
import { type Fact, type FactKind, factsOf, type ProjectFiles } from './facts.ts';
import { programName } from './places.ts';
import type { Observed } from './records.ts';

/** The same command, in the project as it was and with the session's changes. */
export interface SceneRuns {
  readonly scene: Pick<Scene, 'name' | 'ordinary' | 'tools'>;
  /** Several: what differs between them is noise. */
  readonly bases: readonly [Observed, ...Observed[]];
  readonly result: Observed;
}

export interface Compared {
  readonly hits: readonly Hit[];
  /** Commands that ran in both, or with the changes alone where the project as it was has nothing to run. */
  readonly ran: readonly string[];
  /** Names of commands that were not compared, with the reason: for a reader. */
  readonly gaps: readonly string[];
  /** Changed files that no command ran or read. Empty where a command was not seen from its start to its end. */
  readonly untouched: ReadonlySet<string>;
}

const RULES = {
  program: [REHEARSED_PROGRAM, 'starts'],
  connection: [REHEARSED_CONNECTION, ''],
  decoy: [REHEARSED_DECOY_READ, 'reads'],
  write: [REHEARSED_WRITE, 'writes'],
  evaded: [REHEARSAL_EVADED, ''],
} as const satisfies Readonly<Record<FactKind, readonly unknown[]>>;

/**
 * What the commands do with the changes and not without them, as findings of the changed files that led there. The same
 * act of several commands is one finding. Pure.
 */
export function compareRuns(runs: readonly SceneRuns[], files: ProjectFiles): Compared {
  const { changed } = files;
  const found = new Map<string, { fact: Fact; path: string; commands: string[] }>();
  const took = new Set<string>();
  const ran: string[] = [];
  const gaps: string[] = [];
  let isSeenWhole = true;
  for (const { scene, bases, result } of runs) {
    const [base] = bases;
    const gap = gapOf(scene.name, base, result);
    if (gap !== undefined) gaps.push(gap);
    // Without the other side everything would be new.
    if (!isRun(result) || base.end.kind === 'unbudgeted') continue;
    ran.push(scene.name);
    const after = factsOf(result, files);
    if (after.facts.some(({ kind }) => kind === 'evaded')) isSeenWhole = false;
    const before = new Set(bases.flatMap((one) => factsOf(one, files).facts.map(keyOf)));
    const renamed = renamedOf(after.facts, before);
    for (const path of after.took) took.add(path);
    const fallback = [...after.took].at(-1) ?? [...changed][0] ?? '.';
    for (const fact of after.facts) {
      if (before.has(keyOf(fact)) || renamed.has(fact) || isOrdinary(fact, scene, base)) continue;
      // A base that was cut short says nothing about what would have followed.
      if (fact.kind === 'evaded' && base.end.kind === 'broken' && result.end.kind === 'broken') continue;
      const known = found.get(keyOf(fact));
      if (known === undefined) found.set(keyOf(fact), { fact, path: fact.by ?? fallback, commands: [scene.name] });
      else known.commands.push(scene.name);
    }
  }
  return {
    hits: [...found.values()].map(({ fact, path, commands }) => hitFor(fact, path, commands)),
    ran,
    gaps,
    untouched: new Set(isSeenWhole && ran.length > 0 ? [...changed].filter((path) => !took.has(path)) : []),
  };
}

const keyOf = ({ kind, what }: Fact): string => `${kind} ${what}`;

/**
 * Written files whose names differ from one of the base in random characters alone, as those of mkstemp and of Python's
 * tempfile do: in the same folder, and each name of the base stands for one.
 */
function renamedOf(after: readonly Fact[], before: ReadonlySet<string>): ReadonlySet<Fact> {
  const keys = new Set(after.map(keyOf));
  const left = [...before].filter((key) => key.startsWith('write ') && !keys.has(key));
  const renamed = new Set<Fact>();
  for (const fact of after) {
    if (fact.kind !== 'write' || before.has(keyOf(fact))) continue;
    const at = left.findIndex((key) => differInRandom(key, keyOf(fact)));
    if (at < 0) continue;
    left.splice(at, 1);
    renamed.add(fact);
  }
  return renamed;
}

/** The most that a random name has: six of mkstemp, eight of Python's tempfile. */
const MAX_RANDOM = 8;
/** What both names have in common: two names that are random as a whole are two files. */
const MIN_COMMON = 3;

function differInRandom(one: string, other: string): boolean {
  if (one.length !== other.length) return false;
  const places = [...one].flatMap((char, at) => (char === other[at] ? [] : [at]));
  const [first = 0] = places;
  const last = places.at(-1) ?? 0;
  const name = one.lastIndexOf('/') + 1;
  const length = last + 1 - first;
  return (
    length <= MAX_RANDOM &&
    first >= name &&
    one.length - name - length >= MIN_COMMON &&
    [one, other].every((key) => /^[A-Za-z0-9_]+$/.test(key.slice(first, last + 1)))
  );
}

const isRun = ({ end }: Observed): boolean => end.kind === 'ended' || end.kind === 'broken';

function isOrdinary({ kind, what }: Fact, { ordinary, tools }: SceneRuns['scene'], base: Observed): boolean {
  if (kind !== 'program') return false;
  // The command is new to the project: its own programs are no news.
  const isOwn =
    base.end.kind === 'without' && (tools.some((tool) => programName(`/usr/bin/${tool}`) === what) || SHELLS.has(what));
  return isOwn || ordinary?.test(what) === true;
}

const SHELLS: ReadonlySet<string> = new Set(['sh', 'bash', 'env', 'node']);

function hitFor({ kind, what, chain }: Fact, path: string, commands: readonly string[]): Hit {
  const [rule, verb] = RULES[kind];
  const [first = '', ...others] = commands;
  const also =
    others.length === 0 ? '' : others.length === 1 ? ` and ${others[0]}` : ` and ${others.length} more commands`;
  const by = kind === 'program' ? chain.slice(0, -1) : chain;
  const through = by.length === 0 ? '' : ` (${by.join(' > ')})`;
  return hitOf(rule, path, { detail: `${first}${also}: ${verb === '' ? what : `${verb} ${what}`}${through}` });
}

/** The findings of an audit whose file took no part get a note. It lifts nothing. Pure. */
export function notStarted(
  { ran, untouched }: Pick<Compared, 'ran' | 'untouched'>,
  findings: readonly Pick<Finding, 'path' | 'severity'>[],
): readonly Hit[] {
  const paths = findings.filter(({ severity, path }) => severity !== 'note' && untouched.has(path));
  const title = `Not started by any of ${ran.length} commands`;
  return [...new Set(paths.map(({ path }) => path))].map((path) => ({ ...hitOf(REHEARSED_NOT_STARTED, path), title }));
}

/** Why a command was not compared; undefined where it was, or where it is not a command for this project. */
function gapOf(name: string, base: Observed, result: Observed): string | undefined {
  const { end } = result;
  if (end.kind === 'absent') return `${name}: the image has no ${end.tool}`;
  if (end.kind === 'unbudgeted') return `${name}: no time was left`;
  if (base.end.kind === 'unbudgeted') return `${name}: no time was left for the project as it was`;
  if (base.end.kind === 'broken') return `${name}: it did not end in the project as it was`;
  return undefined;
}
