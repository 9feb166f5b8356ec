import { agentOf } from '../../../agents/agents.ts';
import { durationText } from '../../../core/text/when.ts';
import type { HostEventKind } from '../../../core/types/log-event.ts';
import type { Plan } from '../../../core/types/plan.ts';
import type { SessionRecord } from '../../../core/types/session.ts';

/** What the log says of a change of a session's stage; undefined where it says nothing. Pure. */
export function stageEvent(
  before: Pick<SessionRecord, 'stage'>,
  after: SessionRecord,
): { readonly kind: HostEventKind; readonly text: string } | undefined {
  if (before.stage === after.stage) return undefined;
  if (after.stage === 'running') return { kind: 'start', text: `${startedText(after.plan)}, ${after.plan.mode} mode` };
  if (after.stage === 'ended') return { kind: 'end', text: endText(after) };
  if (after.stage === 'discarded') return { kind: 'discard', text: 'its changes were discarded' };
  if (after.stage !== 'failed') return undefined;
  const { code, message } = after.failure ?? { code: 'FAILED', message: 'its agent never ran' };
  return { kind: 'failed', text: `${code}: ${message}` };
}

function startedText({ program }: Plan): string {
  if (program.kind === 'exec') return 'a command';
  if (program.kind === 'kept') return 'a session for commands';
  return agentOf(program)?.title ?? 'a shell';
}

function endText({ agentStatus, stoppedBecause, agentMs }: SessionRecord): string {
  return [
    agentStatus === undefined ? 'ended' : `status ${agentStatus}`,
    ...(agentMs === undefined ? [] : [`after ${durationText(agentMs)}`]),
    ...(stoppedBecause === undefined ? [] : [`stopped: ${stoppedBecause}`]),
  ].join(', ');
}
