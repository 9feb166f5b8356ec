import { EXIT, usageError } from '../../../core/errors.ts';
import type { SessionRecord } from '../../../core/types/session.ts';
import { openBox } from '../../../session/kept/box.ts';
import { findUp } from '../../../session/kept/place.ts';
import { listSessions } from '../../../session/record/session.ts';
import { cleanText } from '../../../terminal/clean.ts';
import type { CommandContext } from '../../context/context.ts';
import { type Printed, runSelf } from '../../context/run-self.ts';
import { openEngineOf } from '../../engines/open-engine.ts';
import { ANSWER_MS, askForCode, type Confirmed, dropPending, takeAnswer } from '../../plugin/pending-answer.ts';
import type { TypedCommand } from '../../plugin/typed-command.ts';
import { pendingOf, usable } from './project-session.ts';

interface Project {
  /** Real path. */
  readonly root: string;
  readonly key: string;
}

/** A longer difference is read in a pager, not in Claude Code. */
const MAX_SHOWN_CHARACTERS = 20_000;

/** What the user reads for a command that was typed in Claude Code. */
export async function answerTyped(
  { name, code }: TypedCommand,
  project: Project,
  context: CommandContext,
): Promise<string> {
  const up = findUp(context.places.stateDir, project.root);
  switch (name) {
    case 'status':
      return outputOfCommand(['status', ...(up === undefined ? [] : [up.id])], project);
    case 'diff':
      return up === undefined ? outputOfCommand(['diff', '--view'], project) : liveDiff(up, context);
    case 'review':
      return reviewText(up, project);
    case 'explore':
      return up === undefined
        ? 'In a terminal: run-claude explore'
        : `In a terminal, for a shell in the running session: run-claude exec --session ${up.id}`;
    case 'doctor':
      return outputOfCommand(['doctor'], project);
    case 'passthrough':
      return `${await outputOfCommand(['plugin', 'passthrough'], project)}\nOnly you can change the list: passthrough in [plugin] of config.toml.`;
    case 'apply':
    case 'discard':
      return code === undefined ? askFor(name, up, project, context) : carryOut(name, code, project, context);
  }
}

async function reviewText(up: SessionRecord | undefined, project: Project): Promise<string> {
  const how =
    up === undefined
      ? 'To choose files and hunks, in a terminal: run-claude apply'
      : `To end the session and choose files and hunks, in a terminal: run-claude down ${up.id}`;
  return `${await outputOfCommand(['status', ...(up === undefined ? [] : [up.id])], project)}\n${how}`;
}

/** What changed so far. It is not frozen: the session goes on. */
async function liveDiff(record: SessionRecord, context: CommandContext): Promise<string> {
  const engine = await openEngineOf(record.plan, context);
  try {
    const box = await openBox(record, async () => engine, context.tell);
    try {
      const { text, isCut } = await box.diff();
      const shown = cleanText(text === '' ? 'no changes' : text);
      return isCut || shown.length > MAX_SHOWN_CHARACTERS
        ? `${shown.slice(0, MAX_SHOWN_CHARACTERS)}\n[there is more; in a terminal: run-claude diff --follow ${record.id}]`
        : shown;
    } finally {
      await box.close();
    }
  } finally {
    await engine.close();
  }
}

/**
 * Ends the session, so that its changes are frozen, shows them all, and asks. The code is shown to the user alone: the
 * model reads no answer to a command that was typed, so that a prompt which something else sends cannot hold it.
 */
async function askFor(
  action: Confirmed,
  up: SessionRecord | undefined,
  project: Project,
  context: CommandContext,
): Promise<string> {
  const { stateDir } = context.places;
  dropPending(stateDir, project.key);
  if (up !== undefined) {
    // `stop` and not `down`: it never applies.
    const ended = await runSelf(['stop', usable(up).id], project.root);
    if (ended.status !== EXIT.ok) return failed(ended);
  }
  const session = pendingOf(listSessions(stateDir).sessions, project.root, up?.id);
  if (session === undefined) return 'There are no changes to decide about.';
  const shown = [
    await runSelf(['status', session.id], project.root),
    await runSelf(['diff', '--view', session.id], project.root),
  ];
  const unshown = shown.find((one) => one.status !== EXIT.ok);
  if (unshown !== undefined) return failed(unshown);
  const [status = '', diff = ''] = shown.map(({ text }) => text);
  const inTerminal = `To choose files and hunks, in a terminal: run-claude apply ${session.id}`;
  if (action === 'apply' && diff.length > MAX_SHOWN_CHARACTERS)
    return `${status}\nThe changes are too long to be shown here. ${inTerminal}`;
  const { code } = askForCode(stateDir, project.key, { action, session: session.id }, Date.now());
  const what = action === 'apply' ? 'To apply the clean changes' : 'To discard all of it';
  const minutes = ANSWER_MS / 60_000;
  return [
    ...(action === 'apply' ? [diff] : []),
    status,
    `${what}, type within ${minutes} minutes: /boxed:${action} ${code}`,
    inTerminal,
    'Nothing runs until you answer. After any other prompt, Claude goes on in the same copy.',
  ].join('\n');
}

async function carryOut(action: Confirmed, code: string, project: Project, context: CommandContext): Promise<string> {
  const { stateDir } = context.places;
  const pending = takeAnswer(stateDir, project.key, { action, code }, Date.now());
  if (pending === undefined)
    throw usageError('this code is not valid, or no longer', `Ask for another one: /boxed:${action}`);
  return outputOfCommand([action, pending.session, '--yes'], project);
}

function failed({ text, status }: Printed): string {
  return `${text}\nNothing can be decided about the changes: a command of run-claude failed (status ${status}). In a terminal: run-claude status`;
}

async function outputOfCommand(args: readonly string[], { root }: Project): Promise<string> {
  return (await runSelf(args, root)).text;
}
