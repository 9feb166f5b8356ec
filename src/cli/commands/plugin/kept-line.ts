import type { CommandContext } from '../../context/context.ts';
import type { RunLine } from '../../grammar/parse-command-line.ts';

/** The project of the conversation that a hook or the plugin's server is started for, as Claude Code names it. */
export function projectDir({ env, cwd }: Pick<CommandContext, 'env' | 'cwd'>): string {
  const named = env['CLAUDE_PROJECT_DIR'];
  return named?.startsWith('/') ? named : cwd;
}

/**
 * The session that the plugin starts: as `up`, without a credential, which no program in it needs, and without
 * conversations to bring back: those of Claude are on the host, and what looks like one inside was made up.
 */
export function keptLine(context: CommandContext, action: 'up' | 'serve'): RunLine {
  return {
    kind: 'run',
    action,
    project: projectDir(context),
    program: { kind: 'kept' },
    flags: [
      { flag: 'plugin', setting: 'mode', value: 'copy' },
      { flag: 'plugin', setting: 'credentials', value: 'none' },
      { flag: 'plugin', setting: 'sync-back', value: false },
      { flag: 'plugin', setting: 'yes', value: true },
    ],
  };
}
