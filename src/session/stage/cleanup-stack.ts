import type { Tell } from '../../core/types/event.ts';

/** What a session made and has to remove, in the reverse order, whatever happened in between. */
export interface CleanupStack {
  /** Keeps `close` for the end and returns `resource`. */
  use<T>(resource: T, close: (resource: T) => Promise<void> | void): T;
  /** A group whose resources are closed concurrently; the group is closed in the place that it has here. */
  group(): CleanupGroup;
  /** Closes all that is kept, the newest first. A failure becomes a warning and does not stop the others. */
  close(): Promise<void>;
}

export type CleanupGroup = Pick<CleanupStack, 'use'>;

/** An empty stack. */
export function openCleanupStack(tell: Tell): CleanupStack {
  const closers: (() => Promise<void> | void)[] = [];
  const closeOrWarn = async (closer: () => Promise<void> | void): Promise<void> => {
    try {
      await closer();
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      tell({ kind: 'message', level: 'warning', text: `cleaning up: ${why}` });
    }
  };
  return {
    use(resource, close) {
      closers.push(() => close(resource));
      return resource;
    },
    group() {
      const members: (() => Promise<void> | void)[] = [];
      closers.push(async () => void (await Promise.all(members.map(closeOrWarn))));
      return {
        use(resource, close) {
          members.push(() => close(resource));
          return resource;
        },
      };
    },
    async close() {
      for (let closer = closers.pop(); closer !== undefined; closer = closers.pop()) await closeOrWarn(closer);
    },
  };
}
