import { statSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { withSettings } from '../agents/claude/credentials/settings-env.ts';
import { EXIT, usageError } from '../core/errors.ts';
import { findPlaces } from '../core/host/facts.ts';
import { placeUser, requireOwnPlaces } from '../core/host/files/own-places.ts';
import { truePath } from '../core/host/files/true-path.ts';
import { HOLD_WORD, TASK_WORD } from '../core/host/processes/internal-commands.ts';
import { distrustBefore } from '../core/host/programs/trusted-start.ts';
import type { Tell } from '../core/types/event.ts';
import { type Interruption, listenForSignals } from '../terminal/interruption.ts';
import { createPrinter } from '../terminal/printer.ts';
import { chosenAgents } from './context/chosen-agents.ts';
import type { CommandContext } from './context/context.ts';
import { type CommandLine, parseCommandLine } from './grammar/parse-command-line.ts';
import { printError } from './print-error.ts';

/** Runs one command line. Returns the exit status; prints every error itself. */
export async function main(argv: readonly string[]): Promise<number> {
  const early = argv.slice(0, argv.includes('--') ? argv.indexOf('--') : argv.length);
  let tell = printer(early.includes('--trace'), early.includes('--quiet'));
  using interruption = listenForSignals(process);
  try {
    distrustBefore(placesNow());
    // A holder: the command that started it waits at the other end of its channel.
    if (argv[0] === HOLD_WORD && process.send !== undefined)
      return await (await import('./run/hold-session.ts')).holdSession(contextOf(tell, interruption, '/'));
    if (argv[0] === TASK_WORD && process.send !== undefined)
      return await (await import('./run-task.ts')).runTask(contextOf(tell, interruption, currentFolder()), isDirectory);
    const line = parseCommandLine(
      argv,
      isDirectory,
      await chosenAgents(findPlaces(process.env, homedir()).configDir, process.env),
    );
    const trace = asks(line, 'trace');
    tell = printer(trace, asks(line, 'quiet'));
    using _calls = trace ? (await import('./trace-calls.ts')).traceCalls(tell) : undefined;
    return await carryOut(line, tell, interruption);
  } catch (error) {
    const by = interruption.by();
    if (by === undefined) return printError(error, tell);
    tell({ kind: 'message', level: 'info', text: 'Interrupted.' });
    return by === 'SIGINT' ? EXIT.interrupted : EXIT.terminated;
  }
}

async function carryOut(line: CommandLine, tell: Tell, interruption: Interruption): Promise<number> {
  const write = (text: string): void => void process.stdout.write(text);
  if (line.kind === 'help') {
    await (await import('./help/print-help.ts')).printHelp(line.topic, process, interruption);
    return EXIT.ok;
  }
  if (line.kind === 'version') {
    write((await import('./version.ts')).versionText());
    return EXIT.ok;
  }
  const context = contextOf(tell, interruption, currentFolder());
  const { places } = context;
  const user = placeUser(process);
  // `doctor` lists it among the other faults.
  const isDoctor = line.kind === 'command' && line.name === 'doctor';
  if (user !== undefined && !isDoctor) requireOwnPlaces(places, user);
  if (line.kind === 'command') return (await import('./dispatch.ts')).dispatch(line, context);
  if (line.action === 'up') return (await import('./commands/running/up.ts')).upCommand(line, context);
  if (line.action === 'serve') return (await import('./commands/mcp/mcp.ts')).serveCommand(line, context);
  return (await import('./commands/run.ts')).runCommand(line, context);
}

function contextOf(tell: Tell, interruption: Interruption, cwd: string): CommandContext {
  const env = withSettings(process.env, { home: homedir(), platform: process.platform });
  const write = (text: string): void => void process.stdout.write(text);
  return { env, cwd, places: findPlaces(process.env, homedir()), tell, write, interruption };
}

/** For what comes before the command line is read. A folder that was removed has nothing in it. */
function placesNow(): Parameters<typeof distrustBefore>[0] {
  const { configDir: _, ...places } = findPlaces(process.env, homedir());
  let cwd = '/';
  try {
    cwd = process.cwd();
  } catch {
    // currentFolder() reports it.
  }
  return { cwd, ...places };
}

function currentFolder(): string {
  try {
    return trueOrTyped(process.cwd());
  } catch {
    // The only cause: the directory was removed.
    throw usageError('the current directory no longer exists', 'Change to a directory that exists.');
  }
}

/** A directory below one that the user may not search has no real path, but can be worked in. */
function trueOrTyped(folder: string): string {
  try {
    return truePath(folder);
  } catch {
    return folder;
  }
}

function asks(line: CommandLine, name: 'trace' | 'quiet'): boolean {
  if (line.kind === 'command') return line.options.has(name);
  return line.kind === 'run' && line.flags.some((flag) => flag.setting === name);
}

function printer(trace: boolean, quiet: boolean): Tell {
  const { stderr, env } = process;
  const tty = stderr.isTTY === true && env['TERM'] !== 'dumb';
  const colour = tty && (env['NO_COLOR'] ?? '') === '';
  return createPrinter({
    stderr,
    trace,
    quiet,
    json: false,
    tty,
    colour,
    get columns() {
      return stderr.columns ?? 80;
    },
  });
}

function isDirectory(word: string): boolean {
  if (word === '' || word.includes('\0')) return false;
  return statSync(path.resolve(word), { throwIfNoEntry: false })?.isDirectory() === true;
}
