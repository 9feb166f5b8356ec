import path from 'node:path';
import { EXIT, usageError } from '../../../core/errors.ts';
import { packageRoot } from '../../../core/host/package.ts';
import { cleanLine } from '../../../terminal/clean.ts';
import type { CommandContext, CommandRun } from '../../context/context.ts';
import { entryProblem } from '../../plugin/passthrough.ts';
import { answerHook } from './answer-hook.ts';
import { keptLine } from './kept-line.ts';
import { readPluginTable } from './plugin-table.ts';
import { usable } from './project-session.ts';

/**
 * `plugin hook`, `plugin serve`: what the plugin for Claude Code starts. `plugin passthrough`: the list of the user.
 * `plugin path`: the folder that Claude Code installs it from.
 */
export const pluginCommand: CommandRun = async ({ words: [word] }, context) => {
  switch (word) {
    case 'hook':
      return answerHook(context);
    case 'serve':
      return (await import('../mcp/mcp.ts')).serveCommand(keptLine(context, 'serve'), context, usable);
    case 'passthrough':
      return listPassthrough(context);
    case 'path':
      context.write(`${path.join(packageRoot, 'plugin')}\n`);
      return EXIT.ok;
    default:
      throw usageError(
        word === undefined ? 'plugin needs a subcommand' : `plugin has no subcommand '${cleanLine(word)}'`,
        'To list what runs outside the copy: run-claude plugin passthrough',
      );
  }
};

async function listPassthrough(context: CommandContext): Promise<number> {
  const { file, passthrough } = await readPluginTable(context);
  if (passthrough.length === 0)
    context.write(`no command runs outside the copy: passthrough in [plugin] of ${file} is empty\n`);
  const problems = passthrough.map((entry) => ({ entry, problem: entryProblem(entry) }));
  for (const { entry, problem } of problems)
    context.write(`${cleanLine(entry)}${problem === undefined ? '' : `  (refused: ${cleanLine(problem)})`}\n`);
  return problems.some(({ problem }) => problem !== undefined) ? EXIT.faults : EXIT.ok;
}
