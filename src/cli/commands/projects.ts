import { type InstanceFacts, listInstances } from '../../agents/claude/instances/list.ts';
import { jsonText } from '../../core/report/json.ts';
import { whenText } from '../../core/text/when.ts';
import { unfinishedSessions } from '../../session/later/gc/gc-known.ts';
import { listSessions } from '../../session/record/session.ts';
import { cleanLine } from '../../terminal/clean.ts';
import type { CommandRun } from '../context/context.ts';

const STATES: Readonly<Record<InstanceFacts['state'], string>> = {
  present: '',
  deleted: '  (no longer exists: run-claude gc removes its data)',
  away: '  (not reachable at the moment: kept)',
  foreign: "  (not run-claude's: kept)",
};

/** `projects`: Claude's data of each project, with its size and last use. */
export const projectsCommand: CommandRun = async (line, context) => {
  const { sessions } = listSessions(context.places.stateDir);
  const instances = (await listInstances(context.places.dataDir)).map((one) => ({
    ...one,
    pending: unfinishedSessions(one, sessions),
  }));
  if (line.options.has('json')) {
    context.write(jsonText(instances));
    return 0;
  }
  for (const { key, root, bytes, lastUsedMs, state, pending } of instances) {
    const used = whenText(new Date(lastUsedMs).toISOString(), Date.now()).padEnd(15);
    const size = `${(bytes / 1_048_576).toFixed(1)} MB`.padStart(10);
    context.write(
      `${key}  ${used}  ${size}  ${cleanLine(root)}${state === 'deleted' && pending.length > 0 ? keptFor(pending) : STATES[state]}\n`,
    );
  }
  if (instances.length === 0) context.tell({ kind: 'message', level: 'info', text: 'No project has any data yet.' });
  return 0;
};

function keptFor(pending: readonly string[]): string {
  return `  (no longer exists: kept for pending session ${pending.join(', ')})`;
}
