/**
 * Calls `run` for each item, at most `jobs` at a time, in their order. Starts no other once `isStopped` says so; those
 * that run are waited for. The first error that `run` throws is thrown when all have ended, and stops the queue.
 */
export async function runQueue<T>(
  items: readonly T[],
  jobs: number,
  { run, isStopped }: { readonly run: (item: T) => Promise<void>; readonly isStopped: () => boolean },
): Promise<void> {
  let next = 0;
  const errors: unknown[] = [];
  const work = async (): Promise<void> => {
    while (next < items.length && errors.length === 0 && !isStopped()) {
      const item = items[next++] as T;
      try {
        await run(item);
      } catch (error) {
        errors.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Math.min(jobs, items.length)) }, work));
  if (errors.length > 0) throw errors[0];
}
