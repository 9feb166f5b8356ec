import { z } from 'zod';
import { usageError } from '../errors.ts';
import { settingNamed } from './settings.ts';
import { nearest } from './values/nearest.ts';

/** Where a part of a file is: the file's name, and the keys that lead to the part. */
export interface PartOfFile {
  readonly where: string;
  readonly below?: readonly string[];
}

/**
 * The first fault of a file as a message: an unknown key before all others, because a mistyped key is also a missing one.
 * `schema`: what the file was checked with.
 */
export function explainFault(error: z.ZodError, schema: z.ZodType, { where, below = [] }: PartOfFile): Error {
  const issue = error.issues.find(({ code }) => code === 'unrecognized_keys') ?? error.issues[0];
  const path = issue?.path ?? [];
  const named = (keys: readonly PropertyKey[]): string =>
    [where, ...(keys.length === 0 ? [] : [keys.map(String).join('.')])].join(': ');
  const at = named([...below, ...path]);
  if (issue?.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys;
    const near = nearest(key, keysAt(schema, path));
    const isTop = below.length + path.length === 0;
    const hint = near === undefined ? keysHint(isTop ? [] : keysAt(schema, path)) : `Did you mean '${near}'?`;
    return usageError(`${at}: unknown key '${key}'`, (isTop ? meantKey(key) : undefined) ?? hint);
  }
  if (issue?.code === 'invalid_type' && issue.message.endsWith('received undefined'))
    return usageError(`${named([...below, ...path.slice(0, -1)])}: '${String(path.at(-1))}' is missing`);
  if (issue?.code === 'invalid_type')
    return usageError(
      `${at}: not ${NAMES[issue.expected] ?? issue.expected}`,
      `Write ${NAMES[issue.expected] ?? issue.expected}.`,
    );
  if (issue?.code === 'invalid_value')
    return usageError(
      `${at}: not an allowed value`,
      `Write ${oneOfWords(issue.values.map((value) => JSON.stringify(value)))}.`,
    );
  if (issue?.code === 'too_small') return usageError(`${at}: ${issue.origin === 'number' ? 'too small' : 'empty'}`);
  if (issue?.code === 'invalid_key')
    return usageError(
      `${named([...below, ...path.slice(0, -1)])}: '${String(path.at(-1))}' is not ${issue.issues[0]?.message}`,
    );
  return usageError(`${at}: ${issue?.message ?? 'not allowed'}`);
}

/** The error for the name of a setting that no file can have. */
export function explainUnknownSetting(name: string): Error {
  const names = [...settingNamed.values()].filter(({ file }) => file !== false).map((setting) => setting.name);
  const near = nearest(name, names);
  const hint = near === undefined ? 'run-claude config lists the settings.' : `Did you mean '${near}'?`;
  return usageError(`unknown setting '${name}'`, meantKey(name) ?? hint);
}

/** What a key of a file is named instead that has the name of an option, or of what users expect. */
const MEANT: Readonly<Record<string, string>> = {
  copy: 'Write mode = "copy".',
  'copy-workspace': 'Write mode = "copy".',
  bind: 'Write mode = "bind".',
  'no-ignored': 'Write copy-ignored = false.',
  'no-sync-back': 'Write sync-back = false.',
  'no-mcp': 'Leave out the [[mcp]] tables, or use --no-mcp.',
  approve: 'Write approved = ["DIGEST"].',
  limits:
    'Limits have no table. Write memory = "4g", cpus = 2, pids = 512, disk = "10g" or timeout = "1h" above the first table.',
};

/** Undefined for a key that is only mistyped. */
function meantKey(key: string): string | undefined {
  if (Object.hasOwn(MEANT, key)) return MEANT[key];
  return settingNamed.get(key)?.file === false ? `This is for the command line alone: --${key}.` : undefined;
}

/** What can be written in place of an unknown key. The keys of the file itself are too many for a hint. */
function keysHint(keys: readonly string[]): string {
  return keys.length === 0
    ? 'Most keys have the name of an option: run-claude help all lists them.'
    : `It can have: ${keys.join(', ')}.`;
}

/** Kinds of values, as a user of TOML calls them. */
const NAMES: Readonly<Record<string, string>> = {
  string: 'a text in quotes',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a table',
  record: 'a table',
};

function oneOfWords(words: readonly string[]): string {
  return words.length === 1 ? (words[0] ?? '') : `one of: ${words.join(', ')}`;
}

/** The keys that a schema has at a path. */
function keysAt(schema: z.ZodType, path: readonly PropertyKey[]): readonly string[] {
  let here = contentOf(schema);
  for (const key of path) {
    if (here instanceof z.ZodArray) here = contentOf(here.element as z.ZodType);
    else if (here instanceof z.ZodRecord) here = contentOf(here.valueType as z.ZodType);
    else if (here instanceof z.ZodObject) here = contentOf(here.shape[String(key)] as z.ZodType | undefined);
    else return [];
  }
  return here instanceof z.ZodObject ? Object.keys(here.shape) : [];
}

/** A schema without its default, and before what it makes of a value. */
function contentOf(schema: z.ZodType | undefined): z.ZodType | undefined {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) return contentOf(schema.unwrap() as z.ZodType);
  return schema instanceof z.ZodPipe ? contentOf(schema.in as z.ZodType) : schema;
}
