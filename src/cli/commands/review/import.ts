import path from 'node:path';
import { EXIT, usageError } from '../../../core/errors.ts';
import { probeHost } from '../../../core/host/facts.ts';
import { jsonText } from '../../../core/report/json.ts';
import { tellLines } from '../../../review/screen/finding-lines.ts';
import { summaryLines } from '../../../review/screen/summary.ts';
import { reviewOf } from '../../../session/end/frozen-review.ts';
import { importSession } from '../../../session/later/import-session.ts';
import type { UserDeps } from '../../../session/stage/deps.ts';
import { cleanLine } from '../../../terminal/clean.ts';
import { type CommandRun, optionValue } from '../../context/context.ts';
import { readPolicy } from '../../policy/read-policy.ts';

const MAX_NAMED = 10;

/** `import FILE [PROJECT]`: makes a pending session of a file that `export` wrote. Prints its id. */
export const importCommand: CommandRun = async (line, context) => {
  const [named, folder] = line.words;
  if (named === undefined) throw usageError('import: no file to read', 'Write run-claude import FILE.');
  const { env, cwd, places, tell, interruption } = context;
  const { policy, project, warnings } = await readPolicy(folder, [], context);
  for (const text of warnings) tell({ kind: 'message', level: 'warning', text });
  const deps: UserDeps = { host: probeHost(process, places), tell, screen: undefined, interruption };
  const file = path.resolve(cwd, named);
  const request = { file, project, policy, commit: optionValue(line, 'commit'), env };
  const { record, origin, differing } = await importSession(request, deps);
  const review = reviewOf(record);
  tellLines(summaryLines(review), tell);
  for (const one of differing.slice(0, MAX_NAMED)) {
    const text = `${cleanLine(one)}: the session began with other content than this project has`;
    tell({ kind: 'message', level: 'warning', text });
  }
  if (differing.length > MAX_NAMED)
    tell({
      kind: 'message',
      level: 'warning',
      text: `${differing.length - MAX_NAMED} more such paths (--json lists them all)`,
    });
  const { id } = record;
  const count = review.items.length;
  const text = `Imported ${count} ${count === 1 ? 'change' : 'changes'} from session ${origin.session} as session ${id}. Review them with: run-claude diff ${id}, run-claude apply ${id}`;
  tell({ kind: 'message', level: 'info', text });
  const data = { id, project: project.root, origin, changes: count, differing };
  context.write(line.options.has('json') ? jsonText(data) : `${id}\n`);
  return EXIT.ok;
};
