/** As Promise.all, but waits for all of them, so that what they made is on the cleanup stack before that is closed. */
export async function allOrFirstFailure<T extends readonly Promise<unknown>[]>(
  parts: readonly [...T],
): Promise<{ [K in keyof T]: Awaited<T[K]> }> {
  const results = await Promise.allSettled(parts);
  for (const part of results) if (part.status === 'rejected') throw part.reason;
  return (await Promise.all(parts)) as { [K in keyof T]: Awaited<T[K]> };
}
