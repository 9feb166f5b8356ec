import { decodeBytes } from '../../core/text/path.ts';

/** What images/observer records: one line of JSON for each, as documented in observer.c. */
export interface Row {
  readonly kind: string;
  readonly pid: number;
  readonly parent: number;
  /** `path` of a file, `program`, `to` of a connection, `name`, `why` of an evasion. */
  readonly what: string;
  /** Of a connection: the name that was asked for. */
  readonly name?: string;
  /** Of a started program. */
  readonly argv?: readonly string[];
  readonly cwd?: string;
  readonly isScript?: boolean;
  /** Of a written file: it existed before. */
  readonly isOld?: boolean;
}

/** How the run of one command ended. */
export type SceneEnd =
  | { readonly kind: 'ended'; readonly status: number; readonly ms: number; readonly tail: string }
  /** The project has nothing that the command is for. */
  | { readonly kind: 'without' }
  | { readonly kind: 'absent'; readonly tool: string }
  | { readonly kind: 'unbudgeted' }
  /** `why`: as the observer names it; 'ended early' where its records end without an end. */
  | { readonly kind: 'broken'; readonly why: string };

export interface Observed {
  readonly scene: string;
  readonly rows: readonly Row[];
  readonly end: SceneEnd;
}

export interface Observation {
  readonly scenes: readonly Observed[];
  /** The kernel hands no calls over: nothing was run. */
  readonly unavailable?: string;
}

type Json = Readonly<Record<string, unknown>>;

const textOf = (value: unknown): string => (typeof value === 'string' ? decodeBytes(Buffer.from(value, 'latin1')) : '');
const numberOf = (value: unknown): number => (typeof value === 'number' ? value : 0);

/**
 * The output of the observer, scene by scene. Whatever is not as the observer writes it ends its scene as broken, and so
 * does a missing end: records that stop are never taken for a command that did nothing more.
 */
export function readRecords(output: string, scenes: readonly string[]): Observation {
  const found: Observed[] = [];
  let rows: Row[] = [];
  let scene: string | undefined;
  let isDone = false;
  const close = (end: SceneEnd): void => {
    if (scene !== undefined) found.push({ scene, rows, end });
    scene = undefined;
    rows = [];
  };
  for (const line of output.split('\n')) {
    if (line === '') continue;
    const row = parse(line);
    if (row === undefined) close({ kind: 'broken', why: 'ended early' });
    else if (row['k'] === 'unavailable') return { scenes: [], unavailable: textOf(row['why']) };
    else if (row['k'] === 'scene') {
      close({ kind: 'broken', why: 'ended early' });
      scene = textOf(row['name']);
    } else if (row['k'] === 'done') isDone = true;
    else {
      const end = endOf(row);
      if (end === undefined) rows.push(rowOf(row));
      else close(end);
    }
  }
  close({ kind: 'broken', why: 'ended early' });
  const seen = new Set(found.map((one) => one.scene));
  const missing = scenes.filter((name) => !seen.has(name));
  const early = missing.map(
    (name): Observed => ({ scene: name, rows: [], end: { kind: 'broken', why: 'ended early' } }),
  );
  return { scenes: [...found, ...(isDone ? [] : early)] };
}

function parse(line: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
  } catch {
    return undefined;
  }
}

function endOf(row: Json): SceneEnd | undefined {
  switch (row['k']) {
    case 'end':
      return { kind: 'ended', status: numberOf(row['status']), ms: numberOf(row['ms']), tail: textOf(row['tail']) };
    case 'without':
      return { kind: 'without' };
    case 'absent':
      return { kind: 'absent', tool: textOf(row['tool']) };
    case 'unbudgeted':
      return { kind: 'unbudgeted' };
    case 'broken':
      return { kind: 'broken', why: textOf(row['why']) };
    default:
      return undefined;
  }
}

function rowOf(row: Json): Row {
  const { argv, name } = row;
  return {
    kind: textOf(row['k']),
    pid: numberOf(row['pid']),
    parent: numberOf(row['parent']),
    what: textOf(row['path'] ?? row['program'] ?? row['to'] ?? row['why'] ?? name),
    ...(row['to'] !== undefined && name !== undefined ? { name: textOf(name) } : {}),
    ...(Array.isArray(argv) ? { argv: argv.map(textOf) } : {}),
    ...(row['cwd'] === undefined ? {} : { cwd: textOf(row['cwd']) }),
    ...(row['script'] === undefined ? {} : { isScript: row['script'] === 1 }),
    ...(row['old'] === undefined ? {} : { isOld: row['old'] === 1 }),
  };
}
