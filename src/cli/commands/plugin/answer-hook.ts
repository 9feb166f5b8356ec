import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { EXIT, RunClaudeError, usageError } from '../../../core/errors.ts';
import { pathKey } from '../../../session/plan/plan-run.ts';
import { listSessions } from '../../../session/record/session.ts';
import { cleanText } from '../../../terminal/clean.ts';
import type { CommandContext } from '../../context/context.ts';
import * as answers from '../../plugin/answers.ts';
import { decideTool, type ToolFacts } from '../../plugin/decide.ts';
import { type HookEvent, readEvent } from '../../plugin/event.ts';
import { dropPending, lastQuestion, readPending } from '../../plugin/pending-answer.ts';
import { OWN_TOOLS } from '../../plugin/tools.ts';
import { typedCommand } from '../../plugin/typed-command.ts';
import { readPolicy } from '../../policy/read-policy.ts';
import { actingFiles } from './acting-files.ts';
import { answerTyped } from './answer-typed.ts';
import { keptLine, projectDir } from './kept-line.ts';
import { readPluginTable } from './plugin-table.ts';
import { earlierLine, pendingOf, type SessionUp, usable, usableSession } from './project-session.ts';

/** Of one event. A file that is written may be in it. */
const MAX_EVENT_BYTES = 64 * 1024 ** 2;
/** Less than the limit in plugin/hooks/hooks.json: Claude Code would go on with the call after that. */
const ANSWER_MS = 3_000_000;

/** The project in the container. */
const WORKSPACE = '/workspace';
/** The project of the conversation. */
interface Project {
  /** Real path. */
  readonly root: string;
  readonly key: string;
  /** Where the conversation is in it; '' for the project itself. */
  readonly startIn: string;
}

/**
 * Answers one hook event of Claude Code: from stdin to stdout. Any failure ends with a status that is not 0, which the
 * plugin's hook turns into 2: Claude Code refuses the call.
 */
export async function answerHook(context: CommandContext): Promise<number> {
  const limit = setTimeout(() => process.exit(EXIT.usage), ANSWER_MS);
  try {
    const event = readEvent(await readInput());
    if (event === undefined)
      throw usageError(
        'plugin hook: its input is not an event of Claude Code that it knows',
        'Update run-claude and the plugin.',
      );
    context.write(await answerOf(event, context));
    return EXIT.ok;
  } finally {
    clearTimeout(limit);
  }
}

async function readInput(): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of process.stdin as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size > MAX_EVENT_BYTES) throw usageError(`plugin hook: its input is larger than ${MAX_EVENT_BYTES} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

async function answerOf(event: HookEvent, context: CommandContext): Promise<string> {
  if (event.kind === 'start') return answerStart(context);
  if (event.kind === 'prompt') return answerPrompt(event.prompt, context);
  try {
    return await answerTool(event, context);
  } catch (error) {
    if (!(error instanceof RunClaudeError)) throw error;
    return answers.refusal(`Nothing was run. ${reasonOf(error)}`);
  }
}

async function answerTool(event: Extract<HookEvent, { kind: 'tool' }>, context: CommandContext): Promise<string> {
  const project = await findProject(context);
  const decision = decideTool(event, await factsOf(project, context));
  switch (decision.kind) {
    case 'leave':
      return answers.NO_ANSWER;
    case 'refuse':
      return answers.refusal(decision.reason);
    case 'ask':
      return answers.question(decision.warning);
    case 'own':
      return answers.insideTheCopy(decision.input, earlierLine(await sessionUp(project, context)));
    case 'inside': {
      const up = await sessionUp(project, context);
      return answers.insideTheCopy(decision.input(up.record.id), earlierLine(up));
    }
  }
}

async function factsOf({ root, key, startIn }: Project, context: CommandContext): Promise<ToolFacts> {
  const { passthrough, tools } = await readPluginTable(context);
  const pending = readPending(context.places.stateDir, key, Date.now());
  return {
    runClaude: [process.execPath, realpathSync(process.argv[1] ?? '')],
    places: [
      { host: root, inside: WORKSPACE },
      // As Claude Code names it: through a link, for example.
      { host: projectDir(context).replace(/\/+$/, ''), inside: path.posix.join(WORKSPACE, startIn) },
    ],
    passthrough,
    tools,
    question:
      pending === undefined
        ? undefined
        : `The user is deciding about the changes of session ${pending.session}: nothing runs until then. End your turn.`,
  };
}

async function answerStart(context: CommandContext): Promise<string> {
  try {
    const project = await findProject(context);
    const { question } = await factsOf(project, context);
    if (question !== undefined) return answers.note(`run-claude: ${question}`);
    const up = await sessionUp(project, context);
    const { id } = up.record;
    const earlier = earlierLine(up);
    const forModel = [
      `run-claude: commands and files of this conversation are those of a copy of ${project.root}, in a container where it is /workspace.`,
      `Bash runs there. Use ${OWN_TOOLS}read, write, edit, glob and grep for files: the built-in file tools are refused.`,
      'Only hosts that the user allowed can be reached.',
      `Nothing reaches the files of the user until the user applies it; you cannot. When the work is done, call ${OWN_TOOLS}propose.`,
    ].join('\n');
    const how = `run-claude: Claude works on a copy, session ${id}. /boxed:diff shows what it changed, /boxed:apply applies it.`;
    return answers.startAnswer(
      forModel,
      [
        how,
        ...(earlier === undefined ? [] : [earlier]),
        ...warningsOf(actingFiles(path.join(project.root, project.startIn), homedir())),
      ].join('\n'),
    );
  } catch (error) {
    if (!(error instanceof RunClaudeError)) throw error;
    const why = `run-claude: there is no copy to work on. ${reasonOf(error)}`;
    const then = 'Every command and file call is refused until this works, or you turn the plugin off with /plugin.';
    return answers.startAnswer(why, `${why}\n${then}`);
  }
}

/** A command that the user typed is answered here, and never reaches the model. */
async function answerPrompt(prompt: string, context: CommandContext): Promise<string> {
  const command = typedCommand(prompt);
  if (command === 'unknown')
    return answers.promptAnswer('Not a command of run-claude. Its commands take no other words.');
  try {
    const project = await findProject(context);
    if (command !== undefined) return answers.promptAnswer(await answerTyped(command, project, context));
    const question = lastQuestion(context.places.stateDir, project.key);
    if (question === undefined) return answers.NO_ANSWER;
    const { id } = (await sessionUp(project, context)).record;
    return id === question.session
      ? answers.note(`run-claude: nothing was applied or discarded. Session ${id} goes on, in the same copy.`)
      : answers.NO_ANSWER;
  } catch (error) {
    if (!(error instanceof RunClaudeError)) throw error;
    return command === undefined ? answers.NO_ANSWER : answers.promptAnswer(reasonOf(error));
  }
}

/** A line for the user where the project has files that Claude Code obeys on the host: a plugin cannot prevent that. */
function warningsOf(found: readonly string[]): string[] {
  if (found.length === 0) return [];
  return [
    `WARNING: ${found.join(', ')}: Claude Code runs on your machine what these files of the project name, and they can turn this plugin off. To leave them out: claude --setting-sources user`,
  ];
}

async function findProject(context: CommandContext): Promise<Project> {
  const { project } = await readPolicy(projectDir(context), keptLine(context, 'up').flags, context);
  return { root: project.root, key: pathKey(project.root), startIn: project.startIn };
}

/**
 * The session of the project: the one that is up, at every event the same; the one whose changes the user was asked about
 * and did not decide about, in its copy; or a new one, with the earlier one whose work it lacks. A question that is open
 * ends.
 */
async function sessionUp({ root, key }: Project, context: CommandContext): Promise<SessionUp> {
  const { stateDir } = context.places;
  const up = usableSession(stateDir, root);
  const question = lastQuestion(stateDir, key);
  if (up === undefined) {
    const asked = question && pendingOf(listSessions(stateDir).sessions, root, question.session);
    // Large, and a command in a session that is up needs none of it.
    const { restartKeptSession, keepSession } = await import('../../run/keep-session.ts');
    const kept = await (asked === undefined
      ? keepSession(keptLine(context, 'up'), context, undefined)
      : restartKeptSession(usable(asked), context));
    if (kept === undefined) throw new TypeError('a question was asked without a screen');
    dropPending(stateDir, key);
    // Another command may have started it in the meantime.
    if (!kept.isNew) return { record: usable(kept.record) };
    const earlier = pendingOf(listSessions(stateDir).sessions, root, undefined);
    return asked === undefined && earlier !== undefined ? { record: kept.record, earlier } : { record: kept.record };
  }
  if (question !== undefined) dropPending(stateDir, key);
  return { record: up };
}

function reasonOf({ message, hint }: RunClaudeError): string {
  return cleanText(hint === undefined ? message : `${message}. ${hint}`);
}
