import { costText } from '../../core/text/cost.ts';
import type { Policy } from '../../core/types/policy.ts';
import type { UsageTotals } from '../../core/types/session.ts';
import type { HostTotal } from '../../network/gateway/network-log.ts';
import { appendEvent } from '../record/events/events-file.ts';

export interface RunEventsOptions {
  readonly sessionDir: string;
  readonly limits: Pick<Policy, 'maxCostUsd' | 'maxRequests' | 'timeoutMs'>;
  /** What went to the model so far; undefined without a gateway. */
  readonly usage: () => Pick<UsageTotals, 'requests' | 'costUsd'> | undefined;
  /** What was asked of the network so far. */
  readonly hosts: () => readonly Pick<HostTotal, 'host' | 'refused' | 'quiet'>[];
  /** Called once for a host that the agent asks for again after it was refused, and for some hosts only. */
  readonly onRefusedAgain: () => void;
  /** Called once for each limit that is near. */
  readonly onNear: (limit: string) => void;
  readonly nowMs?: () => number;
}

export interface RunEvents {
  /** Looks at the totals; called every LOOK_MS once started. */
  look(): void;
  /** Records the last totals. */
  stop(): void;
}

const LOOK_MS = 5000;
const COST_EVERY_MS = 60_000;
/** A hostile agent can ask for any number of names. */
const MAX_REFUSED_HOSTS = 3;
/** Of a limit: enough is left for the user to do something. */
const NEAR = 0.8;

/** Records the cost of a running agent, at most once a minute and at its end, and each limit that it comes near to. */
export function recordRun({
  sessionDir,
  limits,
  usage,
  hosts,
  onRefusedAgain,
  onNear,
  nowMs = () => performance.now(),
}: RunEventsOptions): RunEvents {
  const startedMs = nowMs();
  const told = new Set<string>();
  const refused = new Set<string>();
  let recorded = usage()?.requests ?? 0;
  let recordedMs = startedMs;
  const recordCost = (): void => {
    const { requests = 0, costUsd = 0 } = usage() ?? {};
    if (requests === recorded) return;
    recorded = requests;
    recordedMs = nowMs();
    appendEvent(sessionDir, 'cost', `${requests} ${requests === 1 ? 'request' : 'requests'}, ${costText(costUsd)}`);
  };
  const lookAtHosts = (): void => {
    if (refused.size >= MAX_REFUSED_HOSTS) return;
    for (const total of hosts()) {
      if (total.quiet || total.refused < 2 || refused.has(total.host)) continue;
      refused.add(total.host);
      onRefusedAgain();
      if (refused.size >= MAX_REFUSED_HOSTS) return;
    }
  };
  const look = (): void => {
    lookAtHosts();
    if (nowMs() - recordedMs >= COST_EVERY_MS) recordCost();
    const { requests = 0, costUsd = 0 } = usage() ?? {};
    const parts: readonly (readonly [string, number, number | undefined])[] = [
      ['cost', costUsd, limits.maxCostUsd],
      ['number of requests', requests, limits.maxRequests],
      ['time', nowMs() - startedMs, limits.timeoutMs],
    ];
    for (const [limit, used, most] of parts) {
      if (most === undefined || used < NEAR * most || told.has(limit)) continue;
      told.add(limit);
      appendEvent(sessionDir, 'limit', `80% of its ${limit} are used`);
      onNear(limit);
    }
  };
  const timer = setInterval(look, LOOK_MS).unref();
  return {
    look,
    stop() {
      clearInterval(timer);
      recordCost();
    },
  };
}
