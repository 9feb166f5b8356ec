import { usageError } from '../../../core/errors.ts';
import type { SessionRecord } from '../../../core/types/session.ts';
import { findUp } from '../../../session/kept/place.ts';
import { isKept } from '../../../session/record/session.ts';
import { cleanLine } from '../../../terminal/clean.ts';

/**
 * The session of the project that is up, where the plugin may use it; undefined where none is up.
 *
 * @throws {RunClaudeError} USAGE for one that gives more than the plugin's own sessions do.
 */
export function usableSession(stateDir: string, root: string): SessionRecord | undefined {
  const up = findUp(stateDir, root);
  return up === undefined ? undefined : usable(up);
}

/**
 * The session itself.
 *
 * @throws {RunClaudeError} USAGE as {@link usableSession} does.
 */
export function usable(record: SessionRecord): SessionRecord {
  const why = whyUnusable(record);
  if (why === undefined) return record;
  throw usageError(
    `session ${record.id} is up, and the plugin does not use it: ${why}`,
    `End it with: run-claude down ${record.id}. The plugin then starts one of its own.`,
  );
}

/** The plugin's own sessions have a copy, no credential and no other folder. */
function whyUnusable({ plan }: SessionRecord): string | undefined {
  const { mode, policy, also = [] } = plan;
  if (mode !== 'copy') return 'it works on the project itself';
  if (policy.autoApply) return 'its changes are applied without a question (--auto-apply)';
  if (policy.credentials !== 'none') return `it has a credential (--credentials=${policy.credentials})`;
  if (also.length > 0) return 'it has other folders (--also)';
  return undefined;
}

/**
 * The session whose changes the user is asked about. `ended`: the one that was up, and no other; undefined: the most
 * recent one of `up` whose changes are not decided about.
 */
export function pendingOf(
  sessions: readonly SessionRecord[],
  root: string,
  ended: string | undefined,
): SessionRecord | undefined {
  return sessions
    .filter((one) => one.project === root && one.stage === 'pending' && isKept(one))
    .filter(({ id }) => ended === undefined || id === ended)
    .sort((a, b) => (a.started < b.started ? 1 : -1))[0];
}

/** The session in which a conversation works. */
export interface SessionUp {
  readonly record: SessionRecord;
  /** It was started anew although the work of this session is not decided about: its container ended, for instance. */
  readonly earlier?: SessionRecord;
}

/** What the user reads where a conversation goes on in a new copy, without earlier work of it. */
export function earlierLine({ record, earlier }: SessionUp): string | undefined {
  if (earlier === undefined) return undefined;
  const { id, stoppedBecause } = earlier;
  const why = stoppedBecause === undefined ? '' : ` (${cleanLine(stoppedBecause)})`;
  return [
    `run-claude: session ${id} has ended${why}, and its changes are pending. Session ${record.id} is a new copy without them.`,
    `To apply them, in a terminal: run-claude apply ${id}. For a shell in that copy: run-claude resume ${id}`,
  ].join('\n');
}
