import type { CommandContext, CommandRun } from './context/context.ts';
import type { CommandLineOfCommand } from './grammar/parse-command-line.ts';

// Each command is loaded when it runs: `sessions` must not load what a session needs.
const LOADERS: Readonly<Record<string, () => Promise<CommandRun>>> = {
  status: async () => (await import('./commands/status.ts')).statusCommand,
  diff: async () => (await import('./commands/review/diff.ts')).diffCommand,
  exec: async () => (await import('./commands/running/exec-inside.ts')).execInsideCommand,
  batch: async () => (await import('./commands/batch.ts')).batchCommand,
  ports: async () => (await import('./commands/running/ports.ts')).portsCommand,
  shell: async () => (await import('./commands/running/exec-inside.ts')).shellCommand,
  down: async () => (await import('./commands/running/down.ts')).downCommand,
  mcp: async () => (await import('./commands/mcp/mcp.ts')).mcpCommand,
  plugin: async () => (await import('./commands/plugin/plugin.ts')).pluginCommand,
  attach: async () => (await import('./commands/running/attach.ts')).attachCommand,
  wait: async () => (await import('./commands/running/wait.ts')).waitCommand,
  stop: async () => (await import('./commands/running/stop.ts')).stopCommand,
  apply: async () => (await import('./commands/review/apply.ts')).applyCommand,
  discard: async () => (await import('./commands/review/discard.ts')).discardCommand,
  undo: async () => (await import('./commands/review/undo.ts')).undoCommand,
  note: async () => (await import('./commands/note.ts')).noteCommand,
  commits: async () => (await import('./commands/review/commits.ts')).commitsCommand,
  rehearse: async () => (await import('./commands/review/rehearse.ts')).rehearseCommand,
  export: async () => (await import('./commands/review/export.ts')).exportCommand,
  import: async () => (await import('./commands/review/import.ts')).importCommand,
  resume: async () => (await import('./commands/resume.ts')).resumeCommand,
  explore: async () => (await import('./commands/explore.ts')).exploreCommand,
  sessions: async () => (await import('./commands/sessions.ts')).sessionsCommand,
  top: async () => (await import('./commands/top.ts')).topCommand,
  config: async () => (await import('./commands/config.ts')).configCommand,
  completion: async () => (await import('./commands/completion.ts')).completionCommand,
  cache: async () => (await import('./commands/cache.ts')).cacheCommand,
  gc: async () => (await import('./commands/gc.ts')).gcCommand,
  projects: async () => (await import('./commands/projects.ts')).projectsCommand,
  log: async () => (await import('./commands/running/log.ts')).logCommand,
  network: async () => (await import('./commands/network.ts')).networkCommand,
  doctor: async () => (await import('./commands/doctor.ts')).doctorCommand,
  audit: async () => (await import('./commands/review/audit.ts')).auditCommand,
  build: async () => (await import('./commands/build.ts')).buildCommand,
};

/** Runs one command. */
export async function dispatch(line: CommandLineOfCommand, context: CommandContext): Promise<number> {
  const load = LOADERS[line.name];
  if (load === undefined) throw new TypeError(`no command ${line.name}`);
  return (await load())(line, context);
}
