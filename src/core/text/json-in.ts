/** A JSON object whose values are not known yet. */
export type JsonObject = { [key: string]: unknown };

/** The value of a text in JSON; undefined where it is not JSON. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The value as an object; undefined for an array, null or anything else. */
export function asObject(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}

/** The text as a JSON object; undefined when it is not one. A key named `__proto__` is a plain key. */
export const parseObject = (text: string): JsonObject | undefined => asObject(jsonIn(text));
