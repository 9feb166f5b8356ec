import { createHash } from 'node:crypto';
import path from 'node:path';
import { EXIT, RunClaudeError } from '../../core/errors.ts';
import { fields, listOf, oneOf, type RecordFormat, readRecordFile, text } from '../../core/store/parse-record.ts';
import { writeJsonAtomic } from '../../core/store/record.ts';
import type { Plan } from '../../core/types/plan.ts';
import { pathKey } from '../plan/plan-run.ts';
import { listSessions } from './session.ts';

/** The start of a session that the user last agreed to for a project. */
interface AgreedStart {
  readonly version: 1;
  readonly mode: Plan['mode'];
  /** Digests of the plan's weakenings. */
  readonly weakenings: readonly string[];
}

/** agreed/KEY.json */
const AGREED_FORMAT: RecordFormat<AgreedStart> = {
  name: 'record of an agreed start',
  version: 1,
  unversioned: 0,
  migrations: { 0: (old) => ({ ...(old as object), version: 1 }) },
  check: fields<AgreedStart>({ version: oneOf(1), mode: oneOf('copy', 'bind'), weakenings: listOf(text) }),
  hint: 'Remove the file; the next start asks again.',
};

/**
 * Why the start screen must ask, as one sentence: the first session of a project, or one that is weaker than the start
 * the user last agreed to. Undefined where no question is needed. A record that cannot be read counts as none.
 */
export function whyAskStart(plan: Plan, stateDir: string): string | undefined {
  const last = readAgreed(agreedFile(plan.project.root, stateDir));
  if (last === undefined) {
    const { sessionId, project } = plan;
    const isFirst = !listSessions(stateDir).sessions.some(
      (one) => one.project === project.root && one.id !== sessionId,
    );
    return isFirst
      ? 'This is the first session of this project.'
      : 'You were not asked about this project yet: its sessions before were started with --yes, or without a terminal.';
  }
  if (plan.mode === 'bind' && last.mode === 'copy')
    return 'This session changes the project itself; the sessions before worked on a copy.';
  const weaker = plan.weakenings.filter((line) => !last.weakenings.includes(digestOf(line)));
  return weaker.length === 0 ? undefined : `This session is weaker than the last one: ${weaker.join('; ')}.`;
}

/** Whether the user never agreed to a start in this folder. */
export function isFirstStart(root: string, stateDir: string): boolean {
  return readAgreed(agreedFile(root, stateDir)) === undefined;
}

/** Records that the user agreed to this start. Weakenings name hosts and paths, so only their digests are kept. */
export function rememberStart(plan: Plan, stateDir: string): void {
  const agreed: AgreedStart = { version: 1, mode: plan.mode, weakenings: plan.weakenings.map(digestOf) };
  writeJsonAtomic(agreedFile(plan.project.root, stateDir), agreed);
}

function agreedFile(root: string, stateDir: string): string {
  return path.join(stateDir, 'agreed', `${pathKey(root)}.json`);
}

function digestOf(line: string): string {
  return createHash('sha256').update(line).digest('hex').slice(0, 16);
}

function readAgreed(file: string): AgreedStart | undefined {
  try {
    return readRecordFile(file, AGREED_FORMAT);
  } catch (error) {
    // Asking once more is always right.
    if (error instanceof RunClaudeError) return undefined;
    throw error;
  }
}

/** The error of a start in the background that would have to ask. */
export function startUnanswered(why: string): RunClaudeError {
  return new RunClaudeError('START_UNANSWERED', `a session in the background asks nothing. ${why}`, {
    hint: 'Read the lines above, then add --yes; or start it once without --bg, and answer.',
    status: EXIT.usage,
  });
}
