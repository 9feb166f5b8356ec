import { resolve } from 'node:path';
import { jsonText } from '../../report/json.ts';
import { nearestReal } from '../../session/probe.ts';
import { listSessions, ownerState } from '../../session/record.ts';
import { cleanLine } from '../../terminal/clean.ts';
import type { SessionRecord } from '../../types/session.ts';
import type { CommandRun } from '../context.ts';

/** `sessions [PROJECT]`: newest first; of every project, or of that one. */
export const sessionsCommand: CommandRun = async (line, context) => {
  const named = line.words[0];
  // The real path of the part that exists: sessions outlive their project's folder.
  const project = named === undefined ? undefined : nearestReal(resolve(context.cwd, named));
  const { sessions, damaged } = listSessions(context.places.stateDir);
  const chosen = sessions.filter((session) => project === undefined || session.project === project);
  for (const id of damaged) {
    context.tell({ kind: 'message', level: 'warning', text: `session ${id} has no readable record` });
  }
  if (line.options.has('json')) {
    context.write(jsonText(chosen.map(asData)));
    return 0;
  }
  for (const session of chosen) {
    context.write(`${session.id}  ${stageOf(session).padEnd(9)}  ${cleanLine(session.project)}${noteOf(session)}\n`);
  }
  const where = project === undefined ? '' : ` of ${project}`;
  if (chosen.length === 0) context.tell({ kind: 'message', level: 'info', text: `no sessions${where}` });
  return 0;
};

/** The stage for people: one that should be running and has lost its command line was interrupted. */
function stageOf(session: SessionRecord): string {
  const underWay = ['planned', 'staged', 'running', 'ended', 'collected'].includes(session.stage);
  return underWay && ownerState(session) === 'gone' ? 'cut off' : session.stage;
}

function noteOf(session: SessionRecord): string {
  return !session.note ? '' : `  ${cleanLine(session.note)}`;
}

function asData(session: SessionRecord): object {
  const { id, project, stage, started, updated, agentStatus, note } = session;
  const mode = session.plan.mode;
  return { id, project, stage, started, updated, mode, owner: ownerState(session), agentStatus, note };
}
