import { agentOf } from '../../agents/agents.ts';
import { durationText } from '../../core/text/when.ts';
import type { SessionRecord } from '../../core/types/session.ts';
import type { SessionFacts } from '../../session/end/report/session-facts.ts';
import { programText } from '../sessions/program-text.ts';
import { stateText } from '../sessions/session-lines.ts';
import type { Activity } from './activity.ts';

/** A session in the overview. Texts are not cleaned. */
export interface SessionRow {
  readonly id: string;
  readonly agent: string;
  /** 'working', 'asks you', 'damaged', or as listings name it: 'pending', 'applied'. */
  readonly state: string;
  readonly isRunning: boolean;
  readonly age: string;
  readonly files: string;
  readonly cost: string;
  /** Requests, and refused ones behind a slash: '14/1'. */
  readonly network: string;
  readonly project: string;
  readonly what: string;
  readonly activity: Activity;
}

/** The row of a session, from what is on disk of it. Pure. */
export function sessionRow(
  record: SessionRecord,
  facts: Pick<SessionFacts, 'state' | 'files'>,
  activity: Activity,
  nowMs: number,
): SessionRow {
  const { id, project, plan, started, usage } = record;
  const isRunning = facts.state === 'running';
  const usd = usage?.requests === 0 ? undefined : (usage?.costUsd ?? activity.costs.at(-1)?.usd);
  const { requests, refused } = activity;
  return {
    id,
    agent: agentOf(plan.program)?.name ?? plan.program.kind,
    state: isRunning ? (isAsking(activity) ? 'asks you' : 'working') : stateText(facts),
    isRunning,
    age: durationText(Math.max(0, nowMs - Date.parse(started))),
    files: facts.files === undefined ? '-' : String(facts.files.total),
    cost: usd === undefined ? '-' : `$${usd.toFixed(2)}`,
    network: requests === 0 ? '-' : refused === 0 ? String(requests) : `${requests}/${refused}`,
    project,
    what: programText(plan.program),
    activity,
  };
}

/** The row of a session of whose files one cannot be read. Pure. */
export function damagedRow(record: SessionRecord, activity: Activity, nowMs: number): SessionRow {
  return { ...sessionRow(record, { state: 'failed', files: undefined }, activity, nowMs), state: 'damaged' };
}

/** A question was asked, and not answered since. */
function isAsking({ recent }: Activity): boolean {
  const last = recent.findLast(({ kind }) => kind === 'notify' || kind === 'answer');
  return last?.kind === 'notify' && last.text.startsWith('question');
}

/** Whether any of a row's texts has what was typed. An empty text matches all. */
export function matches({ id, agent, state, project, what }: SessionRow, typed: string): boolean {
  const wanted = typed.toLowerCase();
  return [id, agent, state, project, what].some((text) => text.toLowerCase().includes(wanted));
}
