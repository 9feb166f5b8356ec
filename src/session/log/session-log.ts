import { homeAgent } from '../../agents/agents.ts';
import { RunClaudeError } from '../../core/errors.ts';
import { readContentSync } from '../../core/store/content.ts';
import type { ClaudeChange } from '../../core/types/agent/claude-data.ts';
import type { Claim, LogEvent } from '../../core/types/log-event.ts';
import type { CollectedRecord, SessionRecord } from '../../core/types/session.ts';
import { networkLogFile } from '../../network/gateway/network-log.ts';
import { eventsFile } from '../record/events/events-file.ts';
import { readCollected, readRecord, storeDir, wasCollected } from '../record/session.ts';
import { claimedEvents, linesOf, type RunTimes } from './claimed-events.ts';
import { eventOfLine, eventOfRequest, findingEvents } from './host-events.ts';
import { LineTail } from './line-tail.ts';

/** The log of one session, read as it grows. */
export interface SessionLog {
  /** The events since the last call, in the order of their times. */
  read(): Promise<readonly LogEvent[]>;
}

/**
 * Opens the log of a session: what run-claude saw, and after its end what the agent's transcript claims. The parts come
 * from what the session has on disk already: its events, its network log, its findings, its frozen transcripts.
 */
export function openSessionLog({ plan, started }: SessionRecord): SessionLog {
  const { sessionDir } = plan;
  const events = new LineTail(eventsFile(sessionDir));
  const network = new LineTail(networkLogFile(sessionDir));
  let from: string | undefined;
  let collectedAt: string | undefined;
  let hasCollected = false;
  return {
    async read() {
      const found: LogEvent[] = [];
      add(found, events.read(), eventOfLine);
      for (const { kind, at } of found) {
        if (kind === 'start') from ??= at;
        if (kind === 'files') collectedAt = at;
      }
      add(found, network.read(), eventOfRequest);
      if (!hasCollected && wasCollected(sessionDir)) {
        hasCollected = true;
        const record = readRecord(sessionDir);
        const until = collectedAt ?? record?.updated ?? started;
        for (const one of await collectedEvents(plan, { from: from ?? started, until })) found.push(one);
      }
      return inOrder(found);
    },
  };
}

/** Events in the order of their times; those of one time stay in the order in which they were found. */
export function inOrder(events: readonly LogEvent[]): readonly LogEvent[] {
  return events.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

function add(events: LogEvent[], lines: Iterable<string>, eventOf: (line: string) => LogEvent | undefined): void {
  for (const line of lines) {
    const event = eventOf(line);
    if (event !== undefined) events.push(event);
  }
}

async function collectedEvents(plan: SessionRecord['plan'], times: RunTimes): Promise<LogEvent[]> {
  const collected = readCollected(plan.sessionDir);
  const { claimsOfLine } = await homeAgent(plan.program).loadData();
  const claims = claimsOfLine === undefined ? [] : claimed(plan.sessionDir, collected, times, claimsOfLine);
  return [...findingEvents(collected, times.until), ...claims];
}

function claimed(
  sessionDir: string,
  { claude }: CollectedRecord,
  times: RunTimes,
  claimsOf: (line: string) => readonly Claim[],
): LogEvent[] {
  const texts = (claude?.changes ?? [])
    .filter(({ path }) => /^projects\/[^/]+\/[^/]+\.jsonl$/.test(path))
    .map((change) => addedText(sessionDir, change));
  return claimedEvents(allLines(texts), claimsOf, times);
}

function* allLines(texts: readonly string[]): Generator<string> {
  for (const text of texts) yield* linesOf(text);
}

/** What the session added to a conversation. Empty where its content was removed since. */
function addedText(sessionDir: string, { digest, prefix = 0 }: ClaudeChange): string {
  try {
    return readContentSync(storeDir(sessionDir), digest).subarray(prefix).toString('utf8');
  } catch (error) {
    if (error instanceof RunClaudeError) return '';
    throw error;
  }
}
