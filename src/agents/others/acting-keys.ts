import { createHash } from 'node:crypto';
import { asObject, type JsonObject } from '../../core/text/json-in.ts';

/** A larger file of settings is reported without being read: the text is the agent's. */
export const MAX_SETTINGS_BYTES: number = 64 * 1024;

/**
 * A digest of what in a text of settings may run, redirect or be trusted: everything but the plain preferences, in any order and
 * spelling. Undefined for a text that is not settings.
 *
 * @param others the values that are not plain preferences.
 */
export function digestOfActing(text: string, others: (text: string) => JsonObject | undefined): string | undefined {
  try {
    const found = others(text);
    return found === undefined
      ? undefined
      : createHash('sha256')
          .update(JSON.stringify(sorted(found)))
          .digest('hex');
  } catch {
    // Not in the format, or nested without end.
    return undefined;
  }
}

/** The values whose keys are not plain preferences. A table under the name of a preference is none. */
export function withoutPlain(settings: JsonObject, plain: ReadonlySet<string>): JsonObject {
  const others = Object.entries(settings).filter(([key, value]) => !plain.has(key) || asObject(value) !== undefined);
  return Object.fromEntries(others);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  const object = asObject(value);
  // A date of TOML is an object without keys.
  if (object === undefined || value instanceof Date) return String(JSON.stringify(value));
  return Object.entries(object)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, inner]) => [key, sorted(inner)]);
}
