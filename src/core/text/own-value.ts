/**
 * The value of a table under a name that a file or a session chose: `constructor` and `__proto__` name nothing of it. Undefined
 * where the table has no such own key.
 */
export function ownValue<Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
