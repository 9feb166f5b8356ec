import { usageError } from '../../../core/errors.ts';
import { jsonText } from '../../../core/report/json.ts';
import type { SessionRecord } from '../../../core/types/session.ts';
import { readServiceLog, serviceLogs } from '../../../environment/services/service-log.ts';
import { cleanLine } from '../../../terminal/clean.ts';
import type { CommandContext } from '../../context/context.ts';

/**
 * `log --service NAME`: what a service of the session printed. Returns the exit status.
 *
 * @throws {RunClaudeError} USAGE for a service that the session does not have
 */
export function printServiceLog(
  session: SessionRecord,
  service: string,
  isJson: boolean,
  { write }: Pick<CommandContext, 'write'>,
): number {
  const text = serviceText(session, service);
  if (isJson) write(jsonText({ service, text }));
  else for (const one of linesOf(text)) write(`${cleanLine(one)}\n`);
  return 0;
}

/** `log --list`: the logs of services that a session has. Returns the exit status. */
export function printServiceLogs(
  { id, plan: { sessionDir } }: SessionRecord,
  isJson: boolean,
  { write, tell }: Pick<CommandContext, 'write' | 'tell'>,
): number {
  const logs = serviceLogs(sessionDir).map((name) => ({ service: name, bytes: bytesOf(sessionDir, name) }));
  if (isJson) {
    write(jsonText(logs));
    return 0;
  }
  for (const { service: name, bytes } of logs) write(`--service ${name.padEnd(20)} ${bytes} bytes\n`);
  if (logs.length === 0) tell({ kind: 'message', level: 'info', text: `Session ${id} has no log of a service.` });
  return 0;
}

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
