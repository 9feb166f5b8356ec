import type { Screen } from '../terminal/ask.ts';
import type { Engine } from '../types/engine.ts';
import type { Tell } from '../types/event.ts';
import type { HostFacts } from '../types/plan.ts';
import type { ReportPlace } from './write-report.ts';

/** What deciding and applying need: the person and this machine. */
export interface PersonDeps {
  readonly host: HostFacts;
  readonly tell: Tell;
  /** The person's terminal; undefined where questions cannot be asked. */
  readonly screen: Screen | undefined;
  readonly interruption: Interruption;
  /** Where --report wants the outcome. */
  readonly report?: ReportPlace;
}

/** What a session is handed besides its plan; nothing in it is global. */
export interface SessionDeps extends PersonDeps {
  readonly engine: Engine;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The first signal that asked us to stop; shared by all stages of a session. */
export interface Interruption {
  readonly signal: AbortSignal;
  by(): 'SIGINT' | 'SIGTERM' | 'SIGHUP' | undefined;
}

/**
 * Listens for INT, TERM and HUP until disposed. The first one aborts the signal; stages end in order and nothing is
 * lost. While the agent has the terminal in raw mode, Ctrl-C is a key of its own and never comes here.
 */
export function listenForSignals(): Interruption & Disposable {
  const abort = new AbortController();
  let first: 'SIGINT' | 'SIGTERM' | 'SIGHUP' | undefined;
  const take = (name: 'SIGINT' | 'SIGTERM' | 'SIGHUP') => (): void => {
    first ??= name;
    abort.abort();
  };
  const listeners = (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map((name) => [name, take(name)] as const);
  for (const [name, listener] of listeners) process.on(name, listener);
  return {
    signal: abort.signal,
    by: () => first,
    [Symbol.dispose]() {
      for (const [name, listener] of listeners) process.off(name, listener);
    },
  };
}
