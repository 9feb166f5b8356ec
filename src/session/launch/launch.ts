import { PassThrough } from 'node:stream';
import { isPrintOnly } from '../../agents/agents.ts';
import type { CredentialFile } from '../../agents/claude/credentials/credential-file.ts';
import type { Container } from '../../core/types/engine.ts';
import type { Tell } from '../../core/types/event.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { Gateway } from '../../network/gateway/start-gateway.ts';
import { type AttachOutcome, attachTerminal } from '../../terminal/attach/attach.ts';
import { muteKeys } from '../../terminal/mute-keys.ts';
import { whyStopped } from '../record/events/stop-request.ts';
import type { SessionDeps } from '../stage/deps.ts';
import { type AgentEnd, type AgentRun, openAgentRun } from './agent-run.ts';
import { hasActivityLine, type LaunchCompanions, openMonitors } from './monitors.ts';

export type LaunchOutcome =
  | ({ readonly kind: 'ended' } & AgentEnd)
  /** The user detached from the agent, which runs on. Only an agent that was attached to again allows it. */
  | { readonly kind: 'detached' }
  /** The container did not start, or the gateway failed before, so the program never ran. */
  | { readonly kind: 'start-failed'; readonly error: Error };

/** What watches the agent starts after its gateway, which its program waits for, but no later than this. */
const MONITORS_WAIT_MS = 2000;

/** Every full-screen program sends some of these: a warning each time would hide those that matter. */
const ORDINARY_DROPS: ReadonlySet<string> = new Set(['query', 'other', 'device control']);

/**
 * Runs the agent's container with the user's terminal (or pipes) until it ends, or until a limit or a signal ends it.
 * The program starts while the gateway does. A gateway that fails before the container is started keeps it from starting;
 * one that fails or is lost later stops the session.
 */
export async function launch(
  agent: Container,
  plan: Plan,
  deps: SessionDeps,
  companions: LaunchCompanions = {},
): Promise<Exclude<LaunchOutcome, { kind: 'detached' }>> {
  const outcome = await runAttached(agent, plan, deps, companions, false);
  if (outcome.kind === 'detached') throw new Error('an agent on its first terminal was detached from');
  return outcome;
}

/** As {@link launch}, for a container that runs already and whose terminal was lost. */
export async function reattach(
  agent: Container,
  plan: Plan,
  deps: SessionDeps,
  companions: LaunchCompanions,
): Promise<LaunchOutcome> {
  return runAttached({ ...agent, start: async () => undefined }, plan, deps, companions, true);
}

async function runAttached(
  agent: Container,
  plan: Plan,
  deps: SessionDeps,
  companions: LaunchCompanions,
  isReattached: boolean,
): Promise<LaunchOutcome> {
  const { tell } = deps;
  const { gateway, guard } = companions;
  const run = openAgentRun(agent, tell);
  if (gateway !== undefined) stopWithGateway(gateway, run);
  void guard?.failure.then((error) => run.failAtOnce(error));
  const ignoreRequests = stopOnRequest(run, plan, deps);
  const monitors = openMonitors(run, agent, plan, deps, companions);
  let monitorsTimer: NodeJS.Timeout | undefined;
  const start = async (): Promise<void> => {
    try {
      await gateway?.prepared;
      run.begin();
      // A program can fill a small disk before anything else has started.
      if (companions.disk?.isOnThisMachine) monitors.watchDisk();
      await agent.start();
    } catch (error) {
      run.failStart(error as Error);
      throw error;
    }
    gateway?.begin();
    await run.killIfStopping();
    void Promise.resolve(gateway?.ready).then(monitors.start, () => undefined);
    monitorsTimer = setTimeout(monitors.start, MONITORS_WAIT_MS);
  };
  try {
    using _muted = hasActivityLine(plan) && !passesInput(plan) ? muteKeys(process.stdin) : undefined;
    if (plan.tty) tell({ kind: 'terminal-lent' });
    const attached = await attachTerminal(
      { ...agent, start },
      {
        streams: deps.away?.streams ?? { stdin: inputOf(plan), stdout: process.stdout, stderr: process.stderr },
        tty: plan.tty,
        // The command that an agent without a terminal was started from has ended, and its input with it.
        stdin: isReattached ? plan.tty : passesInput(plan),
        signals: process,
        isReattached,
        onKeys: monitors.keys,
        // No shell could resume a session in the background: an agent that stops itself is woken.
        ...(deps.away === undefined && { suspend: suspendOwnGroup }),
        onAttached(terminal) {
          monitors.attached(terminal);
          deps.away?.attached(terminal);
        },
        beforeOutput: monitors.beforeOutput,
        ...(guard && { mayShow: () => guard.check(agent.hostPid?.()) === undefined }),
      },
    );
    if (plan.tty) tell({ kind: 'terminal-returned' });
    reportDropped(attached.dropped, tell);
    return outcomeOf(run, attached.status);
  } catch (error) {
    if (run.state.kind === 'start-failed') return run.state;
    throw error;
  } finally {
    run.end();
    clearTimeout(monitorsTimer);
    ignoreRequests();
    monitors.stop();
    if (plan.tty) tell({ kind: 'terminal-returned' });
  }
}

function outcomeOf({ state }: AgentRun, status: number | undefined): LaunchOutcome {
  if (state.kind === 'start-failed') return state;
  if (status === undefined) return { kind: 'detached' };
  if (state.kind !== 'stopping') return { kind: 'ended', status, stopReason: undefined };
  const { reason, failure } = state;
  return { kind: 'ended', status, stopReason: reason, ...(failure && { failure }) };
}

/** The agent does not run on without its gateway, nor beyond the limits that the gateway counts. */
function stopWithGateway({ ready, lost, exceeded }: Pick<Gateway, 'ready' | 'lost' | 'exceeded'>, run: AgentRun): void {
  ready.catch((error: Error) => run.failAtOnce(error));
  void lost.then((error) => run.stop(error.message));
  void exceeded.then(run.stop);
}

/** Stops the run at an interruption, a `stop` command, or the time limit. Returns what ends that. */
function stopOnRequest(run: AgentRun, { sessionDir, policy }: Plan, { interruption }: SessionDeps): () => void {
  const onAbort = (): void => run.stop(whyStopped(sessionDir));
  interruption.signal.addEventListener('abort', onAbort);
  const timer =
    policy.timeoutMs === undefined
      ? undefined
      : setTimeout(() => run.stop('its time limit is reached'), policy.timeoutMs);
  return () => {
    clearTimeout(timer);
    interruption.signal.removeEventListener('abort', onAbort);
  };
}

/** `claude -p` waits for what is piped to it, and a terminal pipes nothing. */
function passesInput({ program }: Plan): boolean {
  return !(process.stdin.isTTY && isPrintOnly(program));
}

/** What the waiting program of a kept session reads never ends: the program ends with it. */
function inputOf({ program }: Plan): typeof process.stdin | PassThrough {
  return program.kind === 'kept' ? new PassThrough() : process.stdin;
}

/**
 * Stops this process and what a shell started with it, as the terminal does at Ctrl-Z. Where no shell could resume them
 * (an orphaned process group) the kernel discards the signal. Ends with the window's size as it is by then.
 */
function suspendOwnGroup(): void {
  process.kill(0, 'SIGTSTP');
  // In the background no other process reports a resized window.
  process.kill(process.pid, 'SIGWINCH');
}

function reportDropped(dropped: AttachOutcome['dropped'], tell: Tell): void {
  for (const [reason, count] of Object.entries(dropped)) {
    const text = `control sequences of the agent that did not reach your terminal: ${count} × ${reason}`;
    if (count === 0) continue;
    if (ORDINARY_DROPS.has(reason)) tell({ kind: 'trace', text });
    else tell({ kind: 'message', level: 'warning', text });
  }
}

/** As {@link launch}, with the credential's file served inside until the end where `--credentials=file` asks for it. */
export async function launchWithCredential(
  agent: Container,
  plan: Plan,
  deps: SessionDeps,
  companions: LaunchCompanions & { readonly credential: CredentialFile | undefined },
): ReturnType<typeof launch> {
  const stopServing = companions.credential?.serve(agent, plan.user, (error) => {
    deps.tell({ kind: 'message', level: 'warning', text: `the credential inside: ${error.message}` });
  });
  try {
    return await launch(agent, plan, deps, companions);
  } finally {
    stopServing?.();
  }
}
