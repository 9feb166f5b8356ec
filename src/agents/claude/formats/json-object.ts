/** A JSON object whose values are not known yet. */
export type JsonObject = { [key: string]: unknown };

/** The value as an object; undefined for an array, null or anything else. */
export function asObject(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}

/** The text as a JSON object; undefined when it is not one. A key named `__proto__` is a plain key. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    return asObject(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
