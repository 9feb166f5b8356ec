import { HOME, inProject, isDecoy, isScratch, normalPath, normalText, PROJECT, programName } from './places.ts';
import type { Observed, Row } from './records.ts';

export type FactKind = 'program' | 'connection' | 'decoy' | 'write' | 'evaded';

/** One thing that a command did, without what changes from run to run. */
export interface Fact {
  readonly kind: FactKind;
  /** In a reader's words: 'sh .tools/fs.sh', 'connects to x.example:443'. Facts with the same kind and words are one. */
  readonly what: string;
  /** The programs from the command to the one that did it. */
  readonly chain: readonly string[];
  /** The changed file that led there: the nearest that a process of the chain runs or has read. */
  readonly by?: string;
}

interface Process {
  readonly parent: number;
  /** Undefined until it runs another program than its parent. */
  program?: string;
  /** The changed file that it runs, or read last. */
  by?: string;
}

const NONE: ReadonlySet<string> = new Set();
const MAX_CHAIN = 6;
/** Above these numbers the kernel picks ports by itself. */
const FIRST_EPHEMERAL = 10_000;
const LOOPBACK = /^(?:127\.[\d.]+|0\.0\.0\.0|\[::1?\]):(\d+)$/;
/** Interpreters: what they run is their first plain word. */
const INTERPRETERS = /^(?:sh|bash|zsh|node|python|perl|ruby|php|lua|deno|bun)$/;
/** What git itself writes all the time. Its configuration and its hooks are not part of it. */
const OF_GIT = /^(?:.*\/)?\.git\/(?!hooks\/|config(?:\.worktree)?(?:\.lock)?$|info\/attributes$)/;

export interface SceneFacts {
  readonly facts: readonly Fact[];
  /** The changed files that took part: run, or read. */
  readonly took: ReadonlySet<string>;
}

/** Paths from the project. */
export interface ProjectFiles {
  /** Of the session's changes. */
  readonly changed: ReadonlySet<string>;
  /** Files with secrets: a read is that of a decoy. */
  readonly secrets?: ReadonlySet<string>;
}

/** What a command did. Pure. */
export function factsOf({ rows, end }: Observed, { changed, secrets = NONE }: ProjectFiles): SceneFacts {
  const took = new Set<string>();
  const processes = new Map<number, Process>();
  const pending = new Map<number, Row>();
  const made = new Set<string>();
  const bound = new Set(rows.filter(({ kind }) => kind === 'bind').map(({ what }) => portOf(what)));
  const facts = new Map<string, Fact>();
  const add = (kind: FactKind, what: string, pid: number): void => {
    const key = `${kind} ${what}`;
    if (facts.has(key)) return;
    const by = leadOf(processes, pid);
    facts.set(key, { kind, what, chain: chainOf(processes, pid), ...(by === undefined ? {} : { by }) });
  };
  const lead = (process: Process, path: string): void => {
    process.by = inProject(path) as string;
    took.add(process.by);
  };
  const start = (row: Row, program: string): void => {
    const process = processOf(processes, row);
    const script = row.kind === 'exec' ? scriptOf(row, program) : undefined;
    process.program = labelOf(program, script);
    const own = [row.kind === 'exec' ? row.what : program, script].find((path) => isOf(changed, path));
    if (own !== undefined) lead(process, own);
    add('program', process.program, row.pid);
  };
  for (const row of rows) {
    const process = processOf(processes, row);
    switch (row.kind) {
      case 'exec':
        pending.set(row.pid, row);
        break;
      case 'runs': {
        start(pending.get(row.pid) ?? row, row.what);
        pending.delete(row.pid);
        break;
      }
      case 'read':
        // Git reads every file to compare it: only its own configuration leads it anywhere.
        if (isOf(changed, row.what) && (process.program !== 'git' || /\/\.git\//.test(row.what)))
          lead(process, row.what);
        if (isDecoy(row.what) || isOf(secrets, row.what)) add('decoy', normalPath(row.what), row.pid);
        break;
      case 'write':
      case 'delete': {
        const what = writtenBy(row, made);
        if (what !== undefined) add('write', what, row.pid);
        break;
      }
      case 'connect': {
        const to = targetOf(row, bound);
        if (to !== undefined) add('connection', `connects to ${to}`, row.pid);
        break;
      }
      case 'bind':
        if (!LOOPBACK.test(row.what) || (row.what.startsWith('0.') && Number(portOf(row.what)) < FIRST_EPHEMERAL))
          add('connection', `listens on ${row.what}`, row.pid);
        break;
      case 'lookup':
        add('connection', `asks for ${row.what}`, row.pid);
        break;
      case 'evaded':
        add('evaded', EVASIONS[row.what] ?? row.what, row.pid);
        break;
      case 'left':
        add('program', 'a program that runs on after the command', 0);
        break;
      default:
        add('evaded', 'a record that this release does not know', row.pid);
    }
  }
  // Ended before another call was seen.
  for (const row of pending.values()) start(row, row.isScript === true ? '/bin/sh' : row.what);
  if (end.kind === 'broken') add('evaded', BREAKS[end.why] ?? end.why, 0);
  return { facts: withoutDoubles([...facts.values()]), took };
}

const EVASIONS: Readonly<Record<string, string>> = {
  unreadable: 'becomes unreadable',
  filter: 'installs a filter of its own',
  signal: 'tries to end or stop the observer',
  trace: 'traces another program',
  io_uring: 'asks for io_uring',
  '32-bit': 'makes a 32-bit call',
  flood: 'starts too many programs at once',
};

const BREAKS: Readonly<Record<string, string>> = {
  time: 'does not end within its time limit',
  flood: 'does more than can be recorded',
  start: 'could not be started',
  unended: 'cannot be ended',
  'ended early': 'ended the observer',
};

/** A name that was asked for is part of the connection to it. */
function withoutDoubles(facts: readonly Fact[]): readonly Fact[] {
  const connected = new Set(facts.map(({ what }) => /^connects to (.*):\d+$/.exec(what)?.[1]));
  return facts.filter(({ what }) => !connected.has(/^asks for (.*)$/.exec(what)?.[1] ?? ''));
}

function processOf(processes: Map<number, Process>, { pid, parent }: Row): Process {
  const known = processes.get(pid);
  if (known !== undefined) return known;
  const process: Process = { parent };
  processes.set(pid, process);
  return process;
}

function isOf(changed: ReadonlySet<string>, path: string | undefined): path is string {
  const own = path === undefined ? undefined : inProject(path);
  return own !== undefined && changed.has(own);
}

/** A program of the image that is a script goes by its own name. */
function labelOf(program: string, script: string | undefined): string {
  if (script === undefined) return programName(program);
  const name = programName(script);
  return name.includes('/') || inProject(script) !== undefined ? `${programName(program)} ${name}` : name;
}

/** The file that an interpreter runs: that of a `#!` line, or its first word that is not an option. */
function scriptOf({ what, isScript, argv = [], cwd = PROJECT }: Row, program: string): string | undefined {
  if (isScript === true) return what;
  if (!INTERPRETERS.test(programName(program))) return undefined;
  const word = argv.slice(1).find((one, at) => at === 0 || !one.startsWith('-'));
  if (word === undefined || word.startsWith('-')) return undefined;
  return word.startsWith('/') ? word : `${cwd}/${word.replace(/^\.\//, '')}`;
}

function* ancestors(processes: ReadonlyMap<number, Process>, pid: number): Generator<Process> {
  const seen = new Set<number>();
  for (let at = pid; !seen.has(at); ) {
    seen.add(at);
    const process = processes.get(at);
    if (process === undefined) return;
    yield process;
    at = process.parent;
  }
}

function leadOf(processes: ReadonlyMap<number, Process>, pid: number): string | undefined {
  for (const { by } of ancestors(processes, pid)) if (by !== undefined) return by;
  return undefined;
}

function chainOf(processes: ReadonlyMap<number, Process>, pid: number): readonly string[] {
  const programs: string[] = [];
  for (const { program } of ancestors(processes, pid)) if (program !== undefined) programs.unshift(program);
  return programs.slice(-MAX_CHAIN);
}

function portOf(to: string): string {
  return to.slice(to.lastIndexOf(':') + 1);
}

/** Undefined for what a command does with itself: a port that it listens on, one that the kernel picked. */
function targetOf({ what, name }: Row, bound: ReadonlySet<string>): string | undefined {
  if (what.startsWith('unix:')) {
    const path = what.slice('unix:'.length);
    return path.startsWith('@') || isScratch(path) || inProject(path) !== undefined ? undefined : normalText(what);
  }
  const port = LOOPBACK.exec(what)?.[1];
  if (port === undefined) return name === undefined ? what : `${name}:${portOf(what)}`;
  return bound.has(port) || Number(port) >= FIRST_EPHEMERAL ? undefined : `localhost:${port}`;
}

/** The words for a written file; undefined for build output, caches, temporary files and what the command made itself. */
function writtenBy({ kind, what, isOld = false }: Row, made: Set<string>): string | undefined {
  if (isScratch(what) || made.has(what)) return undefined;
  if (!isOld) made.add(what);
  const own = inProject(what);
  if (own === undefined) return what.startsWith(HOME) || what.startsWith('/') ? normalPath(what) : undefined;
  if (OF_GIT.test(own) || own.endsWith('.lock')) return undefined;
  if (kind === 'delete') return isOld ? `${normalPath(what)} (deleted)` : undefined;
  if (isOld || /(?:^|\/)\.git\//.test(own)) return normalPath(what);
  // A folder whose name begins with a dot holds settings as well as caches: the whole of it is one fact.
  const [top = ''] = own.split('/');
  return top.startsWith('.') ? normalText(top) : undefined;
}
