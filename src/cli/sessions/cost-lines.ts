import { agentOf } from '../../agents/agents.ts';
import { whenText } from '../../core/text/when.ts';
import type { SessionRecord, UsageTotals } from '../../core/types/session.ts';
import { shortPath } from '../../review/screen/summary.ts';
import { cutEnd } from '../../terminal/columns/width.ts';

export interface CostOptions {
  readonly columns: number;
  readonly nowMs: number;
  readonly home: string;
}

/** What sessions cost together: of those that recorded it, at the provider's list prices. */
export function totalUsage(
  sessions: readonly Pick<SessionRecord, 'usage'>[],
): UsageTotals & { readonly sessions: number } {
  const known = sessions.flatMap(({ usage }) => (usage === undefined || usage.requests === 0 ? [] : [usage]));
  const sum = (key: keyof UsageTotals): number => known.reduce((total, usage) => total + usage[key], 0);
  return {
    sessions: known.length,
    requests: sum('requests'),
    inputTokens: sum('inputTokens'),
    outputTokens: sum('outputTokens'),
    costUsd: sum('costUsd'),
  };
}

/** One line for each session that asked a provider, with the names of the columns first, and the sums last. Cleaned. */
export function costLines(sessions: readonly SessionRecord[], { columns, nowMs, home }: CostOptions): string[] {
  const total = totalUsage(sessions);
  if (total.sessions === 0) return [];
  const rows = sessions.flatMap(({ id, started, plan, project, usage }) =>
    usage === undefined || usage.requests === 0
      ? []
      : [
          [
            id,
            agentOf(plan.program)?.name ?? plan.program.kind,
            ...cells(usage),
            whenText(started, nowMs),
            shortPath(project, home),
          ],
        ],
  );
  const sums = [`${total.sessions} ${total.sessions === 1 ? 'session' : 'sessions'}`, '', ...cells(total), '', ''];
  const all = [['session', 'agent', 'requests', 'tokens in', 'out', 'cost', 'started', 'project'], ...rows, sums];
  const widths = (all[0] ?? []).map((_, at) => all.reduce((most, row) => Math.max(most, row[at]?.length ?? 0), 0));
  return all.map((row) =>
    cutEnd(
      row
        .map((cell, at) => pad(cell, at, widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
      columns,
    ),
  );
}

/** Columns from the third to the sixth are numbers. */
const pad = (cell: string, at: number, width: number): string =>
  at >= 2 && at <= 5 ? cell.padStart(width) : cell.padEnd(width);

function cells({ requests, inputTokens, outputTokens, costUsd }: UsageTotals): string[] {
  return [String(requests), String(inputTokens), String(outputTokens), `$${costUsd.toFixed(2)}`];
}
