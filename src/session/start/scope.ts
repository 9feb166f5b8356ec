import type { Tell } from '../../types/event.ts';

/** Things to be undone, last first, whatever happened in between. */
export interface Scope {
  /** Keeps `close` for the end and gives the thing back. */
  use<T>(thing: T, close: (thing: T) => Promise<void> | void): T;
  /** A scope whose things are closed side by side; it takes its turn here. */
  beside(): Pick<Scope, 'use'>;
  /** Runs what is kept, last first; a failure is told and does not stop the others. Once. */
  close(): Promise<void>;
}

/** An empty scope. */
export function openScope(tell: Tell): Scope {
  const closers: (() => Promise<void> | void)[] = [];
  const carefully = async (closer: () => Promise<void> | void): Promise<void> => {
    try {
      await closer();
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      tell({ kind: 'message', level: 'warning', text: `cleaning up: ${why}` });
    }
  };
  return {
    use(thing, close) {
      closers.push(() => close(thing));
      return thing;
    },
    beside() {
      const together: (() => Promise<void> | void)[] = [];
      closers.push(async () => void (await Promise.all(together.map(carefully))));
      return {
        use(thing, close) {
          together.push(() => close(thing));
          return thing;
        },
      };
    },
    async close() {
      for (let closer = closers.pop(); closer !== undefined; closer = closers.pop()) await carefully(closer);
    },
  };
}
