import { homedir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { clockText } from '../../core/text/when.ts';
import { shortPath } from '../../review/screen/summary.ts';
import { cleanLine } from '../../terminal/clean.ts';
import type { CommandContext } from '../context/context.ts';
import type { SessionRow } from './session-row.ts';
import { isOpenSession, watchSessions } from './watch-sessions.ts';

const POLL_MS = 1000;

/**
 * `sessions --watch`: running and pending sessions, a line each, and a line whenever the state of one changes, until the
 * command is interrupted.
 */
export async function watchLines(project: string | undefined, context: CommandContext): Promise<number> {
  const { write, places, interruption } = context;
  const { signal } = interruption;
  const states = new Map<string, string>();
  let isFirst = true;
  const watch = watchSessions(places.stateDir, (one) => project === undefined || one.project === project);
  while (!signal.aborted) {
    watch.read();
    const now = new Date();
    for (const record of watch.records.toReversed()) {
      const isOpen = isOpenSession(record);
      if (isFirst ? !isOpen : !isOpen && !states.has(record.id)) continue;
      const row = await watch.row(record, now.getTime());
      if (states.get(row.id) === row.state) continue;
      states.set(row.id, row.state);
      write(`${clockText(now)}  ${watchLine(row)}\n`);
    }
    isFirst = false;
    await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
  return 0;
}

function watchLine({ id, state, files, cost, project }: SessionRow): string {
  const content = [
    files === '-' ? '' : `${files} ${files === '1' ? 'file' : 'files'}`,
    cost === '-' ? '' : cost,
  ].filter((part) => part !== '');
  return [id, state, ...content, shortPath(project, homedir())].map(cleanLine).join('  ');
}
