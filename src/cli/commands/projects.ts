import { listInstances } from '../../claude/instances.ts';
import { jsonText } from '../../report/json.ts';
import { cleanLine } from '../../terminal/clean.ts';
import { whenText } from '../../types/when.ts';
import type { CommandRun } from '../context.ts';

const STATES = {
  present: '',
  gone: '  (gone: gc removes it)',
  away: '  (not reachable now: kept)',
  foreign: '  (damaged: left alone)',
};

/** `projects`: the instances of Claude's data with their projects, sizes and last use. */
export const projectsCommand: CommandRun = async (line, context) => {
  const instances = await listInstances(context.places.dataDir);
  if (line.options.has('json')) {
    context.write(jsonText(instances));
    return 0;
  }
  for (const { key, root, bytes, lastUsedMs, state } of instances) {
    const used = whenText(new Date(lastUsedMs).toISOString(), Date.now()).padEnd(15);
    const size = `${(bytes / 1_048_576).toFixed(1)} MB`.padStart(10);
    context.write(`${key}  ${used}  ${size}  ${cleanLine(root)}${STATES[state]}\n`);
  }
  if (instances.length === 0) context.tell({ kind: 'message', level: 'info', text: 'no projects yet' });
  return 0;
};
