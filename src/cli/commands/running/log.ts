import { usageError } from '../../../core/errors.ts';
import { jsonText } from '../../../core/report/json.ts';
import type { SessionRecord } from '../../../core/types/session.ts';
import { readServiceLog, serviceLogs } from '../../../environment/services/service-log.ts';
import { cleanLine } from '../../../terminal/clean.ts';
import { type CommandRun, optionValue } from '../../context/context.ts';
import { sessionOf } from '../../sessions/session-of.ts';

/** `log [ID]`: the logs that a session has. `log [ID] --service NAME`: what that service printed. */
export const logCommand: CommandRun = async (line, context) => {
  const session = sessionOf('log', line.words[0], context);
  const { sessionDir } = session.plan;
  const service = optionValue(line, 'service');
  if (service !== undefined) {
    const text = serviceText(session, service);
    if (line.options.has('json')) context.write(jsonText({ service, text }));
    else for (const one of linesOf(text)) context.write(`${cleanLine(one)}\n`);
    return 0;
  }
  const logs = serviceLogs(sessionDir).map((name) => ({ service: name, bytes: bytesOf(sessionDir, name) }));
  if (line.options.has('json')) {
    context.write(jsonText(logs));
    return 0;
  }
  for (const { service: name, bytes } of logs) context.write(`--service ${name.padEnd(20)} ${bytes} bytes\n`);
  if (logs.length === 0)
    context.tell({ kind: 'message', level: 'info', text: `Session ${session.id} has no log of a service.` });
  return 0;
};

/** @throws {RunClaudeError} USAGE for a service that the session does not have */
function serviceText({ id, plan }: SessionRecord, name: string): string {
  const names = (plan.policy.services ?? []).map((service) => service.name);
  if (names.includes(name)) return readServiceLog(plan.sessionDir, name) ?? '';
  throw usageError(
    `session ${id} has no service ${cleanLine(name)}`,
    names.length === 0 ? 'A [[service]] table in config.toml adds one.' : `Name one of: ${names.join(', ')}`,
  );
}

const bytesOf = (sessionDir: string, name: string): number => Buffer.byteLength(readServiceLog(sessionDir, name) ?? '');

/** Lines as a program printed them, with the line ends of any system. */
function linesOf(text: string): string[] {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}
