/** A JSON object whose values are not known yet. */
export type JsonObject = { [key: string]: unknown };

/** The value as an object, or undefined when it is an array, null or anything else. */
export function asObject(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}

/** The text as a JSON object, or undefined when it is not one. Own keys named `__proto__` stay plain keys. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    return asObject(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
