import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { RunClaudeError } from '../../core/errors.ts';
import { nearestReal } from '../../core/host/facts.ts';
import { jsonText } from '../../core/report/json.ts';
import type { SessionRecord } from '../../core/types/session.ts';
import { isEmpty, sessionFacts } from '../../session/end/report/session-facts.ts';
import { listSessions, ownerState } from '../../session/record/session.ts';
import { outputColumns } from '../../terminal/columns/wrap-words.ts';
import { type CommandContext, type CommandRun, optionValue } from '../context/context.ts';
import { costLines, totalUsage } from '../sessions/cost-lines.ts';
import { type ListedSession, sessionData, sessionLines } from '../sessions/session-lines.ts';
import { sinceOf } from '../sessions/since.ts';
import { warnOfUnreadable } from '../sessions/unreadable.ts';

/** `sessions [PROJECT]`: the sessions of all projects or of one, newest first. `--all` includes those without changes. */
export const sessionsCommand: CommandRun = async (line, context) => {
  const named = line.words[0];
  // The real path of the part that exists: a session may outlive the folder of its project.
  const project = named === undefined ? undefined : nearestReal(resolve(context.cwd, named));
  if (line.options.has('watch')) return (await import('../top/watch-lines.ts')).watchLines(project, context);
  const since = sinceOf(optionValue(line, 'since'), Date.now());
  const { sessions, unreadable } = listSessions(context.places.stateDir);
  for (const one of unreadable) warnOfUnreadable(one, context);
  const listed = sessions
    .filter((session) => (project === undefined || session.project === project) && session.started >= since)
    .flatMap((record) => withFacts(record, context));
  if (line.options.has('json')) {
    context.write(jsonText(listed.map((one) => sessionData(one, ownerState(one.record)))));
    return 0;
  }
  const where = project === undefined ? '' : ` of ${project}`;
  if (line.options.has('cost')) {
    const records = listed.map(({ record }) => record);
    await writePaged(costLines(records, { columns: outputColumns(), nowMs: Date.now(), home: homedir() }), context);
    if (totalUsage(records).sessions === 0)
      context.tell({ kind: 'message', level: 'info', text: `No session${where} recorded a cost.` });
    return 0;
  }
  const shown = line.options.has('all') ? listed : listed.filter(({ facts }) => !isEmpty(facts));
  const columns = outputColumns();
  const options = { columns, nowMs: Date.now(), home: homedir(), isOneProject: project !== undefined };
  const hidden = listed.length - shown.length;
  const again = named === undefined ? 'run-claude sessions --all' : `run-claude sessions --all ${named}`;
  const more = `${hidden} ${hidden === 1 ? 'session' : 'sessions'} that changed nothing: ${again}`;
  await writePaged([...sessionLines(shown, options), ...(hidden > 0 ? [more] : [])], context);
  if (listed.length === 0) context.tell({ kind: 'message', level: 'info', text: `There are no sessions${where}.` });
  return 0;
};

/** On a terminal the pager shows more than a screen from its beginning: the newest session does not scroll away. */
async function writePaged(lines: readonly string[], { write, env, interruption }: CommandContext): Promise<void> {
  const { stdout } = process;
  const text = lines.map((line) => `${line}\n`).join('');
  if (stdout.isTTY !== true || lines.length < (stdout.rows ?? 24)) return write(text);
  const { openOutput } = await import('../../terminal/page-output.ts');
  await using output = openOutput({ stdout, env, interruption });
  await output.write(text);
}

/** Empty where the session's files cannot be read: one damaged session must not hide the others. */
function withFacts(record: SessionRecord, context: CommandContext): ListedSession[] {
  try {
    return [{ record, facts: sessionFacts(record) }];
  } catch (error) {
    if (!(error instanceof RunClaudeError)) throw error;
    warnOfUnreadable({ id: record.id, project: record.project, error }, context);
    return [];
  }
}
