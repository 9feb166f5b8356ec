import type { Tell } from '../../core/types/event.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import type { SessionRecord } from '../../core/types/session.ts';
import { watchWorkspace } from '../../workspace/view/open.ts';
import type { LiveChanges } from '../../workspace/view/workspace.ts';
import { collectOutput } from './collect-output.ts';
import { connectKept, type KeptConnection } from './connection.ts';
import { liveDiff } from './live-diff.ts';
import { oneAtATime } from './one-at-a-time.ts';
import { writeProposal } from './proposal.ts';
import type { FileRequest, ProgramExit, TextResult } from './requests.ts';

export interface RunOptions {
  /** In the container. Default: where the session starts. */
  readonly cwd?: string | undefined;
  /** Added to the session's own environment. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly timeoutMs?: number | undefined;
  /** What the program reads. */
  readonly input?: string | undefined;
  /** Of each stream, in bytes; the rest is read and dropped. Default MAX_OUTPUT_BYTES. */
  readonly maxOutputBytes?: number | undefined;
  /** Ends the program and what it started. */
  readonly signal?: AbortSignal | undefined;
}

export interface RunOutcome extends ProgramExit {
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  /** Bytes of both streams that were dropped. */
  readonly droppedBytes: number;
}

/**
 * A kept session for programs of the host: what `mcp serve` gives its client, and what other doors are built on. All
 * paths are those of the container, where the runner opens them; none is ever opened on the host. What comes back was
 * written by the agent: it is data, bounded, and not cleaned for a terminal.
 */
export interface Box {
  readonly record: SessionRecord;
  run(argv: readonly string[], options?: RunOptions): Promise<RunOutcome>;
  /** Reads, writes, edits, finds or searches files. @throws {RunClaudeError} REQUEST_FAILED, SESSION_ENDED. */
  ask(request: FileRequest, signal?: AbortSignal): Promise<TextResult>;
  /** What the session has changed so far. */
  changes(): Promise<LiveChanges>;
  /** The differences so far, of all changes or of those that are wanted. */
  diff(wanted?: (path: string) => boolean): Promise<TextResult>;
  /** Asks the user to review. Applies nothing. Returns whether it is the session's first request. */
  propose(summary: string): boolean;
  /** Resolves when the session has ended. */
  readonly closed: Promise<void>;
  /** Leaves the session up. */
  close(): Promise<void>;
}

/** Of each stream of a program. */
export const MAX_OUTPUT_BYTES: number = 8 * 1024 ** 2;
/** How much later than the runner the host gives up. */
const LATE_MS = 10_000;
/** More than the runner takes for a search. */
const ASK_MS = 90_000;

/** Connects to a kept session that is up. @throws {RunClaudeError} SESSION_ENDED. */
export async function openBox(record: SessionRecord, engine: () => Promise<Runtime>, tell: Tell): Promise<Box> {
  const connection = await connectKept(record);
  const watch = oneAtATime(async () =>
    watchWorkspace({ plan: record.plan, engine: await engine(), tell }, record.workspace),
  );
  return {
    record,
    run: (argv, options = {}) => run(connection, argv, options),
    ask: (request, signal) => askInTime(connection, request, signal),
    changes: () => watch.use((opened) => opened.look(true)),
    diff: (wanted = () => true) => watch.use(async (opened) => liveDiff(opened, await opened.look(false), wanted)),
    propose: (summary) => writeProposal(record, summary, Date.now()),
    closed: connection.closed,
    async close() {
      connection.close();
      await watch.close();
    },
  };
}

/** A runner in the agent's hands may never answer. */
async function askInTime(
  connection: Pick<KeptConnection, 'ask'>,
  request: FileRequest,
  signal: AbortSignal | undefined,
): Promise<TextResult> {
  const over = new AbortController();
  const onAbort = (): void => over.abort(new Error('the request was cancelled'));
  const late = new Error(`the session gave no answer within ${ASK_MS / 1000} s`);
  const timer = setTimeout(() => over.abort(late), ASK_MS);
  if (signal?.aborted === true) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    return await connection.ask(request, over.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

async function run(connection: KeptConnection, argv: readonly string[], options: RunOptions): Promise<RunOutcome> {
  const { cwd, env, timeoutMs, input, signal, maxOutputBytes = MAX_OUTPUT_BYTES } = options;
  signal?.throwIfAborted();
  const program = connection.start({ kind: 'run', argv, cwd, env, timeoutMs });
  const cancel = (): void => program.cancel();
  signal?.addEventListener('abort', cancel, { once: true });
  let isLate = false;
  const late =
    timeoutMs === undefined
      ? undefined
      : setTimeout(() => {
          isLate = true;
          program.abandon();
        }, timeoutMs + LATE_MS);
  try {
    program.stdin.end(input ?? '');
    const [exit, stdout, stderr] = await Promise.all([
      program.exit,
      collectOutput(program.stdout, maxOutputBytes),
      collectOutput(program.stderr, maxOutputBytes),
    ]);
    const droppedBytes = stdout.droppedBytes + stderr.droppedBytes;
    return { ...exit, timedOut: exit.timedOut || isLate, stdout: stdout.bytes, stderr: stderr.bytes, droppedBytes };
  } finally {
    clearTimeout(late);
    signal?.removeEventListener('abort', cancel);
  }
}
