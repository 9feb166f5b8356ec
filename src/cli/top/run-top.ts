import { homedir } from 'node:os';
import { usageError } from '../../core/errors.ts';
import type { SessionRecord } from '../../core/types/session.ts';
import { type FullScreen, type Key, openFullScreen } from '../../terminal/full-screen.ts';
import type { CommandContext } from '../context/context.ts';
import { listRows, topFrame } from './frame.ts';
import { NO_CHOICE, pressKey, type TopAction, type TopChoice } from './keys.ts';
import { runAction } from './run-action.ts';
import { matches, type SessionRow } from './session-row.ts';
import { isOpenSession, type SessionWatch, watchSessions } from './watch-sessions.ts';

const REFRESH_MS = 1000;

/**
 * The sessions of this user on the whole terminal, until the user leaves it.
 *
 * @throws {RunClaudeError} USAGE without a terminal
 */
export async function runTop(context: CommandContext): Promise<number> {
  const { stdin, stdout, env } = process;
  if (stdin.isTTY !== true || stdout.isTTY !== true || (env['TERM'] ?? 'dumb') === 'dumb')
    throw usageError('top needs a terminal', 'Without one: run-claude sessions --watch');
  let choice = NO_CHOICE;
  const watch = watchSessions(context.places.stateDir, (record) => choice.showsAll || isOpenSession(record));
  const colour = (context.env['NO_COLOR'] ?? '') === '';
  let message = '';
  for (;;) {
    const shown = await show(watch, choice, { message, colour, context });
    choice = shown.choice;
    if (shown.action.kind === 'quit') return 0;
    message = await runAction(shown.action, context);
  }
}

interface ShowOptions {
  readonly message: string;
  readonly colour: boolean;
  readonly context: CommandContext;
}

/** Shows the overview until a key needs the terminal for another command. */
async function show(
  watch: SessionWatch,
  before: TopChoice,
  { message, colour, context }: ShowOptions,
): Promise<{ readonly choice: TopChoice; readonly action: TopAction }> {
  const { signal } = context.interruption;
  let choice = before;
  let text = message;
  const keys: Key[] = [];
  let wake = (): void => undefined;
  using _aborted = onAbort(signal, () => wake());
  using screen = openFullScreen({
    stdin: process.stdin,
    stdout: process.stdout,
    onKey: (key) => {
      keys.push(key);
      wake();
    },
    onResize: () => wake(),
  });
  for (;;) {
    watch.read();
    const found = await matching(watch, choice);
    await draw(screen, { watch, found, choice, message: text, colour });
    if (keys.length === 0 && !signal.aborted)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, REFRESH_MS);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    if (signal.aborted) return { choice, action: { kind: 'quit' } };
    const ids = found.map(({ id }) => id);
    for (let key = keys.shift(); key !== undefined; key = keys.shift()) {
      const pressed = pressKey(choice, key, ids, listRows(screen.size().rows));
      choice = pressed.choice;
      text = '';
      if (pressed.action !== undefined) return { choice, action: pressed.action };
    }
  }
}

function onAbort(signal: AbortSignal, listener: () => void): Disposable {
  signal.addEventListener('abort', listener);
  return { [Symbol.dispose]: () => signal.removeEventListener('abort', listener) };
}

/** The records that the filter matches. Without one, no row is made that is not shown. */
async function matching(watch: SessionWatch, { filter, typing }: TopChoice): Promise<readonly SessionRecord[]> {
  const wanted = typing ?? filter;
  if (wanted === '') return watch.records;
  const found: SessionRecord[] = [];
  for (const record of watch.records) if (matches(await watch.row(record, Date.now()), wanted)) found.push(record);
  return found;
}

interface Drawn {
  readonly watch: SessionWatch;
  readonly found: readonly SessionRecord[];
  readonly choice: TopChoice;
  readonly message: string;
  readonly colour: boolean;
}

async function draw(screen: FullScreen, { watch, found, choice, message, colour }: Drawn): Promise<void> {
  const nowMs = Date.now();
  const { columns, rows } = screen.size();
  const at = Math.max(
    0,
    found.findIndex(({ id }) => id === choice.marked),
  );
  const page = listRows(rows);
  const first = Math.max(0, Math.min(at - Math.floor(page / 2), found.length - page));
  const shown: SessionRow[] = [];
  for (const record of found.slice(first, first + page)) shown.push(await watch.row(record, nowMs));
  const id = found[at]?.id;
  const asked = choice.asking === undefined ? message : `Stop session ${choice.asking}? Its changes are kept. [y/N]`;
  const state = {
    rows: shown,
    marked: Math.max(
      0,
      shown.findIndex((row) => row.id === id),
    ),
    total: found.length,
    running: watch.records.filter(({ stage }) => stage === 'planned' || stage === 'running').length,
    typing: choice.typing,
    filter: choice.filter,
    message: asked,
  };
  screen.draw(topFrame(state, { columns, rows, colour, home: homedir(), nowMs }));
}
