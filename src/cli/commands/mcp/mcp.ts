import { EXIT, Interrupted, usageError } from '../../../core/errors.ts';
import { ownVersion } from '../../../core/host/package.ts';
import type { Runtime } from '../../../core/types/runtime.ts';
import type { SessionRecord } from '../../../core/types/session.ts';
import { type Box, openBox } from '../../../session/kept/box.ts';
import { cleanLine } from '../../../terminal/clean.ts';
import type { CommandContext, CommandRun } from '../../context/context.ts';
import { openEngineOf } from '../../engines/open-engine.ts';
import type { RunLine } from '../../grammar/parse-command-line.ts';
import { keepSession } from '../../run/keep-session.ts';

/** `mcp` with another word than `serve`. */
export const mcpCommand: CommandRun = async (line, context) => {
  const [word] = line.words;
  if (word === 'add' || word === 'list' || word === 'remove')
    return (await import('./mcp-servers.ts')).mcpServersCommand(line, context);
  if (word === 'login' || word === 'logout') return (await import('./mcp-login.ts')).mcpLoginCommand(line, context);
  const problem = word === undefined ? 'mcp needs a subcommand' : `mcp has no subcommand '${cleanLine(word)}'`;
  throw usageError(problem, 'Write one of: serve, list, add, remove, login, logout. See: run-claude mcp --help');
};

/**
 * `mcp serve [PROJECT]`: the tools of a kept session, for an MCP client on stdin and stdout. `checked` throws for a
 * session that the client must not use.
 */
export async function serveCommand(
  line: RunLine,
  context: CommandContext,
  checked: (record: SessionRecord) => SessionRecord = (record) => record,
): Promise<number> {
  const { tell, interruption } = context;
  let engine: Promise<Runtime> | undefined;
  const open = async (): Promise<Box> => {
    // Nobody can answer a question: stdin is the client's.
    const kept = await keepSession(line, context, undefined);
    if (kept === undefined) throw new Error('a question was asked that nobody could answer');
    const record = checked(kept.record);
    return openBox(record, () => (engine ??= openEngineOf(record.plan, context)), tell);
  };
  // Large, and no other command needs it.
  const { serveTools } = await import('../../mcp-serve/serve.ts');
  const { stdin, stdout } = process;
  try {
    await serveTools({ version: ownVersion(), stdin, stdout, signal: interruption.signal, openBox: open });
    const { reason } = interruption.signal;
    if (reason instanceof Interrupted) throw reason;
    return EXIT.ok;
  } finally {
    stdin.pause();
    await (await engine?.catch(() => undefined))?.close();
  }
}
