import type { Claim, LogEvent } from '../../core/types/log-event.ts';

/** When the session ran, as run-claude saw it; ISO 8601. */
export interface RunTimes {
  readonly from: string;
  readonly until: string;
}

/** Claims that are shown; an agent can write any number of them. */
export const MAX_CLAIMS = 100_000;

/**
 * What the lines of a transcript claim, as events. A time outside of the run is moved into it: no claim stands before the
 * start or behind the end.
 */
export function claimedEvents(
  lines: Iterable<string>,
  claimsOf: (line: string) => readonly Claim[],
  { from, until }: RunTimes,
): LogEvent[] {
  const events: LogEvent[] = [];
  for (const line of lines) {
    for (const claim of claimsOf(line)) {
      if (events.length === MAX_CLAIMS) {
        events.push({ at: until, by: 'host', kind: 'limit', text: `the log has the first ${MAX_CLAIMS} claims only` });
        return events;
      }
      const at = claim.at < from ? from : claim.at > until ? until : claim.at;
      events.push({ ...claim, at, by: 'agent' });
    }
  }
  return events;
}

/** The lines of a text, one after the other. */
export function* linesOf(text: string): Generator<string> {
  let from = 0;
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
    yield text.slice(from, end);
    from = end + 1;
  }
  if (from < text.length) yield text.slice(from);
}
