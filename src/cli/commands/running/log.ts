import { closeSync, existsSync, openSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as sleep } from 'node:timers/promises';
import { readOpen } from '../../../core/store/read-open.ts';
import type { SessionRecord } from '../../../core/types/session.ts';
import { outputFile } from '../../../session/background/away-terminal.ts';
import { openSessionLog } from '../../../session/log/session-log.ts';
import { isUnderWay } from '../../../session/record/find/pick-session.ts';
import { ownerState, readRecord } from '../../../session/record/session.ts';
import { cleanText } from '../../../terminal/clean.ts';
import { outputColumns } from '../../../terminal/columns/wrap-words.ts';
import { type CommandContext, type CommandRun, optionValue } from '../../context/context.ts';
import type { CommandLineOfCommand } from '../../grammar/parse-command-line.ts';
import { logJson, logLine } from '../../sessions/log-lines.ts';
import { sessionOf } from '../../sessions/session-of.ts';
import { sinceOf } from '../../sessions/since.ts';
import { printServiceLog, printServiceLogs } from './service-logs.ts';

const POLL_MS = 500;

/** `log [ID]`: what happened in a session, one line an event. `--service NAME`: what that service printed. */
export const logCommand: CommandRun = async (line, context) => {
  const session = sessionOf('log', line.words[0], context);
  const service = optionValue(line, 'service');
  const isJson = line.options.has('json');
  if (service !== undefined) return printServiceLog(session, service, isJson, context);
  if (line.options.has('output')) return printOutput(session, context);
  if (line.options.has('list')) return printServiceLogs(session, isJson, context);
  return printEvents(session, line, context);
};

/** `log --output`: what the program of a session in the background printed; cleaned, where that is a terminal. */
function printOutput({ id, plan }: SessionRecord, { write, tell }: CommandContext): number {
  const file = outputFile(plan.sessionDir);
  if (!existsSync(file)) {
    const why = plan.tty ? 'it has a screen: run-claude attach' : 'it printed nothing, or to its own terminal';
    tell({ kind: 'message', level: 'info', text: `Session ${id} has no output: ${why}` });
    return 0;
  }
  const isTerminal = process.stdout.isTTY === true;
  const fd = openSync(file, 'r');
  try {
    const decoder = new StringDecoder('utf8');
    for (const piece of readOpen(fd)) {
      if (isTerminal) write(cleanText(decoder.write(piece)));
      else process.stdout.write(piece);
    }
    if (isTerminal) write(cleanText(decoder.end()));
  } finally {
    closeSync(fd);
  }
  return 0;
}

async function printEvents(
  session: SessionRecord,
  line: CommandLineOfCommand,
  { write, tell, interruption: { signal } }: CommandContext,
): Promise<number> {
  const isJson = line.options.has('json');
  const since = sinceOf(optionValue(line, 'since'), Date.now());
  const log = openSessionLog(session);
  let [shown, claimed] = [0, 0];
  for (;;) {
    // Asked first: what is written until it ends is read below.
    const goesOn = line.options.has('follow') && !signal.aborted && isOpen(session);
    for (const event of await log.read()) {
      if (event.at < since) continue;
      shown += 1;
      if (event.by === 'agent') claimed += 1;
      write(isJson ? logJson(event) : `${logLine(event, outputColumns())}\n`);
    }
    if (!goesOn) break;
    await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
  const say = (text: string): void => tell({ kind: 'message', level: 'info', text });
  if (shown === 0) say(`Session ${session.id} has no events${since === '' ? '' : ' since then'}.`);
  if (claimed > 0 && !isJson) say('Lines with "claimed" are what the agent wrote about itself, and may be wrong.');
  return 0;
}

/** A command still writes to the log. */
function isOpen({ plan }: SessionRecord): boolean {
  const now = readRecord(plan.sessionDir);
  return now !== undefined && (isUnderWay(now) || now.owner !== undefined) && ownerState(now) !== 'ended';
}
