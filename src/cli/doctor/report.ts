/** One line of the doctor's. */
export interface Check {
  /** Short and stable, for scripts: 'engine', 'state-directory'. */
  readonly name: string;
  readonly result: 'ok' | 'warning' | 'fault';
  /** What there is. */
  readonly text: string;
  /** What to do, when it is not ok. */
  readonly wayOut?: string;
}

/** A check that passed. */
export function ok(name: string, text: string): Check {
  return { name, result: 'ok', text };
}

/** A check that lets sessions run, but worse. */
export function warning(name: string, text: string, wayOut: string): Check {
  return { name, result: 'warning', text, wayOut };
}

/** A check without which no session runs. */
export function fault(name: string, text: string, wayOut: string): Check {
  return { name, result: 'fault', text, wayOut };
}
