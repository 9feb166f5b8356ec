import { spawn } from '../../core/host/programs/start-program.ts';
import type { Plan } from '../../core/types/plan.ts';
import { appendEvent } from '../record/events/events-file.ts';

/** What a session calls the user for. */
export type NoticeKind = 'end' | 'question' | 'limit' | 'refused';

/** A call for the user. Every word is run-claude's own: nothing of it is the agent's text. */
export interface Notice {
  readonly kind: NoticeKind;
  /** 'pending', 'applied', 'cost', …: a word of run-claude. */
  readonly verdict: string;
}

/** Where a notice is shown. */
export interface NoticeRoutes {
  /** Starts a program and does not wait for it. */
  readonly start: (program: string, args: readonly string[]) => void;
  /** Writes to the user's terminal; undefined where there is none. */
  readonly write?: ((text: string) => void) | undefined;
  readonly platform: NodeJS.Platform;
  /** Of the user's session on a desktop. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

const TITLE = 'run-claude';
const WORDS: Readonly<Record<NoticeKind, string>> = {
  end: 'has ended',
  question: 'asks you',
  limit: 'comes near a limit',
  refused: 'asks again for a refused host',
};

/**
 * Calls the user: with the program of the setting `notify`, which gets id, kind, verdict and project as its last words, or
 * without one on the desktop; and with the bell and the notices of the terminal. Failures are ignored: a session does not
 * depend on it.
 */
export function sendNotice(
  { sessionId, sessionDir, project, policy }: Pick<Plan, 'sessionId' | 'sessionDir' | 'project' | 'policy'>,
  { kind, verdict }: Notice,
  { start, write, platform, env }: NoticeRoutes,
): void {
  appendEvent(sessionDir, 'notify', `${kind}: ${verdict}`);
  const text = `Session ${sessionId} ${WORDS[kind]}: ${verdict}`;
  write?.(terminalNotice(text));
  const [program, ...args] = policy.notify ?? [];
  if (program !== undefined) start(program, [...args, sessionId, kind, verdict, project.root]);
  else if (platform === 'darwin')
    start('osascript', ['-e', `display notification ${JSON.stringify(text)} with title ${JSON.stringify(TITLE)}`]);
  else if ((env['DISPLAY'] ?? env['WAYLAND_DISPLAY'] ?? '') !== '') start('notify-send', ['--', TITLE, text]);
}

/** The bell, and the notices of iTerm and others (OSC 9), kitty (OSC 99), and rxvt and others (OSC 777). */
export function terminalNotice(text: string): string {
  return `\x07\x1b]9;${text}\x07\x1b]99;;${text}\x1b\\\x1b]777;notify;${TITLE};${text}\x07`;
}

/** How the user of a session is called. */
export type CallUser = (notice: Notice) => void;

/** Agents that end sooner are waited for. */
const AWAY_AFTER_MS = 60_000;

/**
 * Calls for the user of a session that this process runs: in the background always, on a terminal when it took so long
 * that the user may have left. A session that nobody answers calls nobody.
 */
export function callerFor(
  plan: Plan,
  { isAway, isAttended }: { readonly isAway: boolean; readonly isAttended: boolean },
  nowMs: () => number = () => performance.now(),
): CallUser {
  const startedMs = nowMs();
  const { stderr } = process;
  const write = stderr.isTTY === true ? (text: string): void => void stderr.write(text) : undefined;
  return (notice) => {
    if (isAway || (isAttended && nowMs() - startedMs >= AWAY_AFTER_MS)) sendNotice(plan, notice, ownRoutes(write));
  };
}

/** The routes of this process. */
export function ownRoutes(write: NoticeRoutes['write']): NoticeRoutes {
  return {
    write,
    platform: process.platform,
    env: process.env,
    start(program, args) {
      const child = spawn(program, [...args], { cwd: '/', detached: true, stdio: 'ignore' });
      child.on('error', () => undefined);
      child.unref();
    },
  };
}
