import { RunClaudeError } from '../errors.ts';
import { parseRelPath, type RelPath } from '../text/path.ts';
import { readJson } from './record.ts';

/**
 * Checks one value of parsed JSON. Returns what is wrong with it, the place first (`.plan.mode is missing`), or
 * undefined when it is a T. Checks are written by hand instead of with zod: every command reads the records of all
 * sessions, and loading zod alone takes longer than reading them.
 */
export interface Check<T> {
  (value: unknown): string | undefined;
  /** Exists in types only, so that a check of another type is refused. */
  readonly checked?: T;
}

export const text: Check<string> = (value) => (typeof value === 'string' ? undefined : mismatch(value, 'text'));
export const number: Check<number> = (value) => (typeof value === 'number' ? undefined : mismatch(value, 'a number'));
export const flag: Check<boolean> = (value) =>
  typeof value === 'boolean' ? undefined : mismatch(value, 'true or false');

export const relPath: Check<RelPath> = (value) =>
  typeof value === 'string' && parseRelPath(value) !== undefined ? undefined : mismatch(value, 'a relative path');

/** A path on this machine, from its root. */
export const absolutePath: Check<string> = (value) =>
  typeof value === 'string' && value.startsWith('/') && !value.includes('\0')
    ? undefined
    : mismatch(value, 'an absolute path');

/** A part whose reader checks it. */
export const unchecked: Check<unknown> = () => undefined;

export function oneOf<const T extends string | number | boolean>(...values: readonly T[]): Check<T> {
  const allowed: ReadonlySet<unknown> = new Set(values);
  return (value) => (allowed.has(value) ? undefined : mismatch(value, `one of ${values.join(', ')}`));
}

/** Also where the field is absent: JSON has no undefined. */
export function optional<T>(check: Check<T>): Check<T | undefined> {
  return (value) => (value === undefined ? undefined : check(value));
}

/** The first check that fits; otherwise what the last one says. */
export function anyOf<A, B>(first: Check<A>, second: Check<B>): Check<A | B> {
  return (value) => first(value) && second(value);
}

export function listOf<T>(check: Check<T>): Check<T[]> {
  return (value) => {
    if (!Array.isArray(value)) return mismatch(value, 'a list');
    for (let index = 0; index < value.length; index++) {
      const problem = check(value[index]);
      if (problem !== undefined) return `[${index}]${problem}`;
    }
    return undefined;
  };
}

/** A list of two. */
export function pairOf<A, B>(first: Check<A>, second: Check<B>): Check<readonly [A, B]> {
  return (value) => {
    if (!Array.isArray(value) || value.length !== 2) return mismatch(value, 'a pair');
    const problem = first(value[0]);
    if (problem !== undefined) return `[0]${problem}`;
    const later = second(value[1]);
    return later === undefined ? undefined : `[1]${later}`;
  };
}

/** An object whose keys are data. */
export function mapOf<T>(check: Check<T>): Check<Readonly<Record<string, T>>> {
  return (value) => {
    if (!isObject(value)) return mismatch(value, 'an object');
    for (const key of Object.keys(value)) {
      const problem = check(value[key]);
      if (problem !== undefined) return `.${key}${problem}`;
    }
    return undefined;
  };
}

/** One check for each property of T. Fields that T does not have are kept and ignored. */
export function fields<T extends object>(shape: { readonly [K in keyof T]-?: Check<T[K]> }): Check<T> {
  const checks = Object.entries<Check<unknown>>(shape);
  return (value) => {
    if (!isObject(value)) return mismatch(value, 'an object');
    for (const [key, check] of checks) {
      const problem = check(value[key]);
      if (problem !== undefined) return `.${key}${problem}`;
    }
    return undefined;
  };
}

/** An object whose field `tag` says which check the rest of it has to pass. */
export function variants<T extends object>(
  tag: keyof T & string,
  checks: Readonly<Record<string, Check<T>>>,
): Check<T> {
  const names = Object.keys(checks);
  return (value) => {
    if (!isObject(value)) return mismatch(value, 'an object');
    const name = value[tag];
    const check = typeof name === 'string' && Object.hasOwn(checks, name) ? checks[name] : undefined;
    return check === undefined ? `.${tag}${mismatch(name, `one of ${names.join(', ')}`)}` : check(value);
  };
}

/**
 * A kind of record on the disk. Raise `version` when an earlier release would misread what this one writes, and add the
 * migration from the version before; a new optional field needs neither. The forms that earlier releases wrote are
 * kept as fixtures next to the tests of the reader.
 */
export interface RecordFormat<T> {
  /** For messages: 'session record'. */
  readonly name: string;
  /** What this release writes. */
  readonly version: number;
  /** The version of a record that has no field `version`. Undefined: such a record is damaged. */
  readonly unversioned?: number;
  /** By version: turns a record of it into one of the next version. */
  readonly migrations?: Readonly<Record<number, (old: unknown) => unknown>>;
  readonly check: Check<T>;
  /** What the user can do when the record cannot be read, one sentence. */
  readonly hint: string;
}

/**
 * The record in `file` as {@link parseRecord} returns it, undefined when there is no such file.
 *
 * @throws {RunClaudeError} RECORD_UNREADABLE when the system refuses to read it, and what parseRecord throws.
 */
export function readRecordFile<T>(file: string, format: RecordFormat<T>): T | undefined {
  const value = readJson(file, format.hint);
  return value === undefined ? undefined : parseRecord(value, format, file);
}

/**
 * The record that this release or an earlier one wrote to `file`, in the form of this release.
 *
 * @throws {RunClaudeError} RECORD_VERSION when another release wrote it in a form that this one does not know,
 * RECORD_DAMAGED when it is not such a record.
 */
export function parseRecord<T>(value: unknown, format: RecordFormat<T>, file: string): T {
  let version = versionOf(value) ?? format.unversioned;
  let record = value;
  if (version === undefined) throw damagedRecord(file, format, '.version is missing');
  while (version < format.version && format.migrations?.[version] !== undefined) {
    record = format.migrations[version]?.(record);
    version++;
  }
  if (version !== format.version) throw unknownVersion(file, format, version);
  return requireValid(record, format, file);
}

/**
 * The value, where it passes the format's check.
 *
 * @throws {RunClaudeError} RECORD_DAMAGED.
 */
export function requireValid<T>(value: unknown, format: RecordFormat<T>, file: string): T {
  const problem = format.check(value);
  if (problem !== undefined) throw damagedRecord(file, format, problem);
  return value as T;
}

function versionOf(value: unknown): number | undefined {
  const version = isObject(value) ? value['version'] : undefined;
  return typeof version === 'number' && Number.isSafeInteger(version) ? version : undefined;
}

function unknownVersion(file: string, { name, version: own }: RecordFormat<unknown>, version: number): RunClaudeError {
  const writer = version > own ? 'a newer' : 'an earlier';
  const versions = `${name} of version ${version}; this release reads version ${own}`;
  return new RunClaudeError('RECORD_VERSION', `${file} was written by ${writer} release of run-claude (${versions})`, {
    hint: version > own ? 'Update run-claude, then run the command again.' : 'Use the release that wrote the file.',
  });
}

function damagedRecord(file: string, { name, hint }: RecordFormat<unknown>, problem: string): RunClaudeError {
  const reason = problem.startsWith('.') ? problem.slice(1) : `it${problem}`;
  return new RunClaudeError('RECORD_DAMAGED', `${file} is not a valid ${name}: ${reason}`, { hint });
}

function mismatch(value: unknown, expected: string): string {
  return value === undefined ? ' is missing' : ` is not ${expected}`;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
