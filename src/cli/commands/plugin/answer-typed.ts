import { execFile } from 'node:child_process';
import { usageError } from '../../../errors.ts';
import { ANSWER_MS, askForCode, type Confirmed, dropPending, takeAnswer } from '../../../plugin/pending-answer.ts';
import type { TypedCommand } from '../../../plugin/typed-command.ts';
import { listSessions } from '../../../record/session.ts';
import { openBox } from '../../../session/kept/box.ts';
import { findUp, isKept } from '../../../session/kept/place.ts';
import { cleanText } from '../../../terminal/clean.ts';
import type { SessionRecord } from '../../../types/session.ts';
import type { CommandContext } from '../../context/context.ts';
import { openEngine } from '../../context/open-engine.ts';

interface Project {
  /** Real path. */
  readonly root: string;
  readonly key: string;
}

/** A longer difference is read in a pager, not in Claude Code. */
const MAX_SHOWN_CHARACTERS = 20_000;
const MAX_OUTPUT_BYTES = 16 * 1024 ** 2;

/** What the user reads for a command that was typed in Claude Code. */
export async function answerTyped(
  { name, code }: TypedCommand,
  project: Project,
  context: CommandContext,
): Promise<string> {
  const up = findUp(context.places.stateDir, project.root);
  switch (name) {
    case 'status':
      return runSelf(['status', ...(up === undefined ? [] : [up.id])], project);
    case 'diff':
      return up === undefined ? runSelf(['diff'], project) : liveDiff(up, context);
    case 'review':
      return reviewText(up, project);
    case 'explore':
      return up === undefined
        ? 'In a terminal: run-claude explore'
        : `In a terminal, for a shell in the running session: run-claude exec --session ${up.id}`;
    case 'doctor':
      return runSelf(['doctor'], project);
    case 'passthrough':
      return `${await runSelf(['plugin', 'passthrough'], project)}\nOnly you can change the list: passthrough in [plugin] of config.toml.`;
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
  return `${await runSelf(['status', ...(up === undefined ? [] : [up.id])], project)}\n${how}`;
}

/** What changed so far. It is not frozen: the session goes on. */
async function liveDiff(record: SessionRecord, context: CommandContext): Promise<string> {
  const engine = await openEngine(record.plan.policy.engine, context);
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
  if (up !== undefined) await runSelf(['down', up.id], project);
  const session = pendingOf(stateDir, project);
  if (session === undefined) return 'There are no changes to decide about.';
  const [status, diff] = [await runSelf(['status', session.id], project), await runSelf(['diff', session.id], project)];
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
    `The session has ended. Any other prompt goes on in a new copy, without these changes.`,
  ].join('\n');
}

async function carryOut(action: Confirmed, code: string, project: Project, context: CommandContext): Promise<string> {
  const { stateDir } = context.places;
  const pending = takeAnswer(stateDir, project.key, { action, code }, Date.now());
  if (pending === undefined)
    throw usageError('this code is not valid, or no longer', `Ask for another one: /boxed:${action}`);
  return runSelf([action, pending.session, '--yes'], project);
}

/** The most recent session of `up` whose changes are not decided about. */
function pendingOf(stateDir: string, { root }: Project): SessionRecord | undefined {
  return listSessions(stateDir)
    .sessions.filter((one) => one.project === root && one.stage === 'pending' && isKept(one))
    .sort((a, b) => (a.started < b.started ? 1 : -1))[0];
}

/** What a command of run-claude prints, without a terminal: it asks nothing. It cleans what it prints. */
function runSelf(args: readonly string[], { root }: Project): Promise<string> {
  return new Promise((resolve) => {
    const options = { cwd: root, maxBuffer: MAX_OUTPUT_BYTES };
    const words = [process.argv[1] ?? '', ...args];
    const child = execFile(process.execPath, words, options, (_error, stdout, stderr) =>
      resolve(`${stdout}${stderr}`.trimEnd()),
    );
    child.stdin?.end();
  });
}
