import type { LogEvent } from '../../core/types/log-event.ts';

/** What a session did so far, from its log. */
export interface Activity {
  /** The latest events, the newest last. Not cleaned. */
  readonly recent: readonly LogEvent[];
  /** In US dollars, at points in time: what was spent until then. */
  readonly costs: readonly { readonly atMs: number; readonly usd: number }[];
  readonly requests: number;
  readonly refused: number;
}

export const NO_ACTIVITY: Activity = { recent: [], costs: [], requests: 0, refused: 0 };

const MAX_RECENT = 20;
/** One a minute at most is recorded: those of a week. */
const MAX_COSTS = 10_080;

/** The activity after more events. Pure; its size is bounded whatever an agent makes happen. */
export function withEvents(activity: Activity, events: readonly LogEvent[]): Activity {
  const network = events.filter(({ kind }) => kind === 'network');
  const refused = network.filter((event) => event.by === 'host' && event.facts?.['verdict'] === 'refused');
  const costs = events.flatMap((event) => {
    const usd = event.kind === 'cost' ? Number(/\$(\d+(?:\.\d+)?)/.exec(event.text)?.[1]) : Number.NaN;
    return Number.isNaN(usd) ? [] : [{ atMs: Date.parse(event.at), usd }];
  });
  return {
    recent: [...activity.recent, ...events].slice(-MAX_RECENT),
    costs: [...activity.costs, ...costs].slice(-MAX_COSTS),
    requests: activity.requests + network.length,
    refused: activity.refused + refused.length,
  };
}

const BARS = '▁▂▃▄▅▆▇█';

/**
 * What was spent in each of `columns` equal parts of the time from the first point to `nowMs`, as bars. '' with less than
 * two points.
 */
export function costLine(costs: Activity['costs'], nowMs: number, columns: number): string {
  const [first] = costs;
  if (first === undefined || costs.length < 2 || nowMs <= first.atMs) return '';
  const spent = new Array<number>(columns).fill(0);
  let before = 0;
  for (const { atMs, usd } of costs) {
    const part = Math.floor(((atMs - first.atMs) / (nowMs - first.atMs)) * columns);
    const at = Math.min(columns - 1, Math.max(0, part));
    spent[at] = (spent[at] ?? 0) + Math.max(0, usd - before);
    before = usd;
  }
  const most = spent.reduce((one, usd) => Math.max(one, usd), 0);
  return spent.map((usd) => (most === 0 ? BARS[0] : BARS[Math.round((usd / most) * (BARS.length - 1))])).join('');
}
