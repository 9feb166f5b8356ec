import { fstatSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { agentOf, isPrintOnly } from '../../agent/agents.ts';
import type { CredentialFile } from '../../claude/credentials/credential-file.ts';
import { EXIT } from '../../errors.ts';
import type { Gateway } from '../../gateway/start-gateway.ts';
import { whyStopped } from '../../record/stop-request.ts';
import { type AttachedTerminal, type AttachOutcome, attachTerminal } from '../../terminal/attach/attach.ts';
import type { Container } from '../../types/engine.ts';
import type { Tell } from '../../types/event.ts';
import type { Plan } from '../../types/plan.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { SessionDeps } from './deps.ts';
import { type SignOfLife, showSignOfLife } from './sign-of-life.ts';
import { type GrowthWatch, watchGrowth } from './watch-growth.ts';

export interface AgentEnd {
  readonly status: number;
  /** The person let go of it: it runs on, and the status says nothing. */
  readonly letGo?: boolean;
  /** Why we stopped it, when we did. */
  readonly stopped: string | undefined;
  /** The gateway did not start, or the container itself, so the program never did. */
  readonly neverRan?: Error | undefined;
}

/** What goes on beside the agent. */
export interface Beside {
  readonly gateway?: Pick<Gateway, 'ready' | 'lost' | 'exceeded' | 'usage'>;
  /** Where what it writes is held to the limit, and counted. */
  readonly disk?: Pick<Workspace, 'watchDisk' | 'watchChanges'>;
  /** Begun once the program may run; a failure stops the session. */
  readonly meanwhile?: () => Promise<unknown>;
  /** It runs already, and its terminal is gone. */
  readonly again?: boolean;
}

/** Every full-screen program sends some of these: a warning each time would hide those that matter. */
const ORDINARY: ReadonlySet<string> = new Set(['query', 'other', 'device control']);

/** How long the agent has to end by itself once it was asked to. */
const GRACE_MS = 10_000;

/**
 * Runs the agent's container with the person's terminal (or pipes) until it ends, or until a limit or a signal ends it.
 * A gateway that does not start ends the container before its program runs; one that is `lost` later stops the session.
 */
export async function launch(
  agent: Container,
  plan: Plan,
  deps: SessionDeps,
  { gateway, disk, meanwhile, again = false }: Beside = {},
): Promise<AgentEnd> {
  let stopped: string | undefined;
  let neverRan: Error | undefined;
  const done = new AbortController();
  const stop = (why: string): void => {
    if (stopped !== undefined || done.signal.aborted) return;
    stopped = why;
    deps.tell({ kind: 'message', level: 'warning', text: `Stopping the agent: ${why}` });
    void endWithin(agent, done.signal);
  };
  if (gateway !== undefined) {
    gateway.ready.catch((error: Error) => {
      neverRan = error;
      return agent.kill('SIGKILL').catch(() => undefined);
    });
    void gateway.lost.then((error) => stop(error.message));
    void gateway.exceeded.then(stop);
  }
  let growth: GrowthWatch | undefined;
  let terminal: AttachedTerminal | undefined;
  let life: SignOfLife | undefined;
  const watch = (): void => {
    if (done.signal.aborted) return;
    meanwhile?.().catch((error: Error) => stop(error.message));
    if (disk !== undefined) growth = watchGrowth(disk, agent, { terminal, tell: deps.tell, stop });
    if (showsSignOfLife(plan)) {
      const changes = disk === undefined ? undefined : () => disk.watchChanges();
      life = showSignOfLife({
        id: plan.sessionId,
        tell: deps.tell,
        requests: () => gateway?.usage().requests,
        changes,
      });
    }
  };
  const onAbort = (): void => stop(whyStopped(plan.sessionDir));
  deps.interruption.signal.addEventListener('abort', onAbort);
  const timer =
    plan.policy.timeoutMs === undefined
      ? undefined
      : setTimeout(() => stop('its time limit is reached'), plan.policy.timeoutMs);
  try {
    const awake = async (): Promise<void> => {
      await agent.start().catch((error: Error) => {
        neverRan ??= error;
        throw error;
      });
      // It failed meanwhile: the signal came too early.
      if (neverRan !== undefined) await agent.kill('SIGKILL');
      // The program waits for the gateway and for nothing else: the rest comes after.
      void Promise.resolve(gateway?.ready).then(watch, () => undefined);
    };
    if (plan.tty) deps.tell({ kind: 'terminal-lent' });
    const ended = await attachTerminal(
      { ...agent, start: awake },
      {
        streams: { stdin: process.stdin, stdout: process.stdout, stderr: process.stderr },
        tty: plan.tty,
        // `claude -p` waits for what is piped to it, and a terminal pipes nothing.
        // Of an agent without a terminal the input has ended with the command that it came from.
        stdin: again ? plan.tty : !(process.stdin.isTTY && isPrintOnly(plan.program)),
        signals: process,
        again,
        keys: (typed) => growth?.keys(typed) ?? typed,
        suspend: suspendOwnGroup,
        attached: (attached) => {
          terminal = attached;
        },
        beforeOutput: (passed) => life?.beforeOutput(passed),
      },
    );
    if (plan.tty) deps.tell({ kind: 'terminal-returned' });
    tellDropped(ended.dropped, deps.tell);
    return { status: ended.status ?? 0, stopped, neverRan, letGo: ended.status === undefined };
  } catch (error) {
    if (neverRan !== undefined) return { status: EXIT.failed, stopped, neverRan };
    throw error;
  } finally {
    done.abort();
    clearTimeout(timer);
    growth?.stop();
    life?.stop();
    if (plan.tty) deps.tell({ kind: 'terminal-returned' });
    deps.interruption.signal.removeEventListener('abort', onAbort);
  }
}

/**
 * Stops this process and what a shell started with it, as the terminal does at Ctrl-Z. Where no shell could resume them
 * (an orphaned process group) the kernel discards the signal. Ends with the window's size as it is by then.
 */
function suspendOwnGroup(): void {
  process.kill(0, 'SIGTSTP');
  // In the background no other process tells us of a resized window.
  process.kill(process.pid, 'SIGWINCH');
}

/** A program in the pipe behind us, such as a pager, would share the terminal with the line. */
function showsSignOfLife({ tty, program }: Plan): boolean {
  if (tty || agentOf(program) === undefined || process.stderr.isTTY !== true) return false;
  if (process.stdout.isTTY === true) return true;
  const out = fstatSync(1);
  return !out.isFIFO() && !out.isSocket();
}

function tellDropped(dropped: AttachOutcome['dropped'], tell: Tell): void {
  for (const [what, count] of Object.entries(dropped)) {
    const text = `control sequences of the agent that did not reach your terminal: ${count} × ${what}`;
    if (count === 0) continue;
    if (ORDINARY.has(what)) tell({ kind: 'trace', text });
    else tell({ kind: 'message', level: 'warning', text });
  }
}

/** TERM, then KILL: what the agent starts may ignore the first. */
async function endWithin(agent: Container, done: AbortSignal): Promise<void> {
  await agent.kill('SIGTERM').catch(() => undefined);
  await sleep(GRACE_MS, undefined, { signal: done }).catch(() => undefined);
  if (!done.aborted) await agent.kill('SIGKILL').catch(() => undefined);
}

/** As {@link launch}, with the credential's file served inside meanwhile where that was asked for. */
export async function launchWithCredential(
  agent: Container,
  plan: Plan,
  deps: SessionDeps,
  staged: Beside & { readonly credential: CredentialFile | undefined },
): Promise<AgentEnd> {
  const stop = staged.credential?.serve(agent, plan.user, (error) => {
    deps.tell({ kind: 'message', level: 'warning', text: `the credential inside: ${error.message}` });
  });
  try {
    return await launch(agent, plan, deps, staged);
  } finally {
    stop?.();
  }
}
