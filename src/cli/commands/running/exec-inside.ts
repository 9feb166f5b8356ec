import { RunClaudeError, usageError } from '../../../core/errors.ts';
import type { Runtime } from '../../../core/types/runtime.ts';
import type { SessionRecord } from '../../../core/types/session.ts';
import { runInside } from '../../../session/kept/run-inside.ts';
import { isRunning } from '../../../session/record/session.ts';
import { terminalType } from '../../../terminal/attach/terminal-type.ts';
import { type CommandContext, type CommandRun, optionValue } from '../../context/context.ts';
import { sessionOf } from '../../sessions/session-of.ts';

/** Not the agent's PATH: the shell of a user who looks into the session. */
const SHELL = ['/bin/bash'];

/** `exec --session ID -- COMMAND…`: a command in a running session, next to its agent. Returns the command's status. */
export const execInsideCommand: CommandRun = (line, context) =>
  runInSession(optionValue(line, 'session'), line.rest, context);

/** `shell [ID]`: the same with a shell, on a terminal. */
export const shellCommand: CommandRun = (line, context) => runInSession(line.words[0], [], context);

async function runInSession(
  id: string | undefined,
  words: readonly string[],
  context: CommandContext,
): Promise<number> {
  const { env, tell } = context;
  const record = sessionOf('shell', id, context);
  if (!isRunning(record)) {
    throw new RunClaudeError('SESSION_ENDED', `session ${record.id} is not running`, {
      hint: `See its files with: run-claude explore ${record.id}`,
    });
  }
  const tty = process.stdin.isTTY === true && process.stdout.isTTY === true;
  if (words.length === 0 && !tty)
    throw usageError(
      'without a terminal there is no shell',
      `Write a command: run-claude exec --session ${record.id} -- COMMAND`,
    );
  let engine: Promise<Runtime> | undefined;
  try {
    return await runInside(record, {
      argv: words.length === 0 ? SHELL : words,
      tty,
      term: tty ? terminalType(env['TERM']) : undefined,
      // A command of a kept session needs none, and loading it takes longer than the command.
      engine: () => (engine ??= engineOf(record, context)),
      tell,
    });
  } finally {
    await (await engine?.catch(() => undefined))?.close();
  }
}

async function engineOf({ plan }: SessionRecord, context: CommandContext): Promise<Runtime> {
  const { openEngineOf } = await import('../../engines/open-engine.ts');
  return openEngineOf(plan, context);
}
