import { usageError } from '../errors.ts';
import { beyondLimits } from '../text/patterns/limits.ts';
import type { Setting } from './settings.ts';
import { parseDurationMs, parseSizeMb } from './values/quantities.ts';

/** The value of any setting in the policy. */
export type Value = string | number | boolean | readonly string[] | undefined;

/**
 * The value of a setting from text (an option, an environment variable) or from TOML. `where` names the source in messages.
 *
 * @throws {RunClaudeError} USAGE with the source and the allowed values
 */
export function readValue(setting: Setting, raw: unknown, where: string): Value {
  const { form } = setting;
  const wrong = (allowed: string): never => {
    throw usageError(`${where}: ${show(raw)} is not allowed`, `Write ${allowed}.`);
  };
  const text = typeof raw === 'string' ? raw : undefined;
  switch (form.kind) {
    case 'choice':
      return text !== undefined && text !== '' && (form.isOpen === true || form.of.includes(text))
        ? text
        : wrong(`one of: ${form.of.join(', ')}`);
    case 'switch':
      return readSwitch(raw) ?? wrong('true or false');
    case 'size': {
      const mb = text === undefined ? undefined : parseSizeMb(text);
      return mb !== undefined && mb >= form.minMb ? mb : wrong(`a size of at least ${form.minMb}m, such as 512m or 8g`);
    }
    case 'duration':
      return (
        (text === undefined ? undefined : parseDurationMs(text)) ??
        wrong('a duration, such as 90s, 30m or 1h30m, of 24 days at most')
      );
    case 'count': {
      const count = readNumber(raw);
      return count !== undefined && Number.isSafeInteger(count) && count >= form.min
        ? count
        : wrong(`a whole number, ${form.min} or more`);
    }
    case 'amount': {
      const amount = readNumber(raw);
      return amount !== undefined && amount > 0 ? amount : wrong('an amount in dollars, such as 5 or 2.50');
    }
    case 'cpus': {
      if (raw === 'all') return 0;
      const cpus = readNumber(raw);
      return cpus !== undefined && cpus >= 0.01 ? cpus : wrong("a number of processors, such as 2 or 0.5, or 'all'");
    }
    case 'text':
      return text !== undefined && text !== '' && !text.includes('\0') ? text : wrong('some text');
    case 'list':
    case 'variables': {
      const list = readList(raw) ?? wrong('a list of texts, none of them empty');
      return form.kind === 'list' && form.isOfPatterns === true ? withinLimits(list, where) : list;
    }
    case 'switch-or-list': {
      const value = readSwitch(raw) ?? readList(raw) ?? wrong('true, false or a list of globs');
      return typeof value === 'boolean' ? value : withinLimits(value, where);
    }
  }
}

/** @throws {RunClaudeError} USAGE for patterns that matching could take too long for: they may come with the project. */
export function withinLimits(patterns: readonly string[], where: string, most?: number): readonly string[] {
  const problem = beyondLimits(patterns, most);
  if (problem === undefined) return patterns;
  throw usageError(`${where}: ${problem}`, 'Write fewer or shorter patterns, with fewer of * ? [ {.');
}

function readSwitch(raw: unknown): boolean | undefined {
  if (typeof raw === 'boolean') return raw;
  if (raw === 'true' || raw === '1') return true;
  return raw === 'false' || raw === '0' ? false : undefined;
}

function readNumber(raw: unknown): number | undefined {
  if (typeof raw === 'number') return Number.isFinite(raw) ? raw : undefined;
  return typeof raw === 'string' && /^\d{1,15}(\.\d{1,9})?$/.test(raw) ? Number(raw) : undefined;
}

/** A list, or comma-separated text of the environment. */
function readList(raw: unknown): readonly string[] | undefined {
  const list: unknown = typeof raw === 'string' ? raw.split(',').map((part) => part.trim()) : raw;
  if (!Array.isArray(list)) return undefined;
  const texts = list.filter((part): part is string => typeof part === 'string' && part !== '' && !part.includes('\0'));
  return texts.length === list.length ? texts : undefined;
}

function show(raw: unknown): string {
  const text = typeof raw === 'string' ? `'${raw}'` : (JSON.stringify(raw) ?? String(raw));
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
