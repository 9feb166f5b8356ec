import { fstatSync } from 'node:fs';
import { agentOf } from '../../agents/agents.ts';
import type { Container } from '../../core/types/engine.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { Gateway } from '../../network/gateway/start-gateway.ts';
import type { AttachedTerminal } from '../../terminal/attach/attach.ts';
import type { MaskGuard } from '../../workspace/bind/session.ts';
import type { Workspace } from '../../workspace/view/workspace.ts';
import type { SessionDeps } from '../stage/deps.ts';
import { type ActivityLine, showActivityLine } from './activity-line.ts';
import type { AgentRun } from './agent-run.ts';
import { keepAwake } from './keep-awake.ts';
import { type RunEvents, recordRun } from './run-events.ts';
import { type GrowthWatch, watchGrowth } from './watch-growth.ts';

/** Parts of a session that run concurrently with the agent. */
export interface LaunchCompanions {
  readonly gateway?: Pick<
    Gateway,
    'prepared' | 'begin' | 'ready' | 'lost' | 'exceeded' | 'usage' | 'lastTool' | 'hosts'
  >;
  /** Holds what the agent writes to the limit, and counts it. */
  readonly disk?: Pick<Workspace, 'watchDisk' | 'watchChanges' | 'isOnThisMachine'> | undefined;
  /** Called once the program may run; a failure stops the session. */
  readonly whileRunning?: (() => Promise<unknown>) | undefined;
  /** Watches what the agent must not read: it ends at the first breach, and nothing that it wrote since is shown. */
  readonly guard?: Pick<MaskGuard, 'check' | 'failure'> | undefined;
}

/** What watches the agent from its start to its end, and shares the terminal with it. */
interface Monitors {
  /** To be called once the program may run; a further call does nothing. */
  readonly start: () => void;
  /** Starts with the watch over the disk; a further call, or one of {@link start}, does nothing more for that. */
  readonly watchDisk: () => void;
  readonly attached: (terminal: AttachedTerminal) => void;
  /** Returns what of the typed bytes is for the agent. */
  readonly keys: (typed: Buffer) => Buffer;
  readonly beforeOutput: (passed: Buffer) => void;
  readonly stop: () => void;
}

/** The monitors of a run, none of them started. */
export function openMonitors(
  run: AgentRun,
  agent: Container,
  plan: Plan,
  { tell, call = () => undefined }: Pick<SessionDeps, 'tell' | 'call'>,
  { gateway, disk, whileRunning }: LaunchCompanions,
): Monitors {
  let terminal: AttachedTerminal | undefined;
  let growth: GrowthWatch | undefined;
  let activity: ActivityLine | undefined;
  let events: RunEvents | undefined;
  let awake: Disposable | undefined;
  let isStarted = false;
  const watchDisk = (): void => {
    const stopAtOnce = (why: string): void => run.stopAtOnce(why);
    if (disk !== undefined)
      growth ??= watchGrowth(disk, agent, {
        terminal: () => terminal,
        tell,
        onQuestion: () => call({ kind: 'question', verdict: 'disk' }),
        stop: run.stop,
        stopAtOnce,
      });
  };
  return {
    watchDisk,
    start() {
      if (run.state.kind === 'ended' || isStarted) return;
      isStarted = true;
      whileRunning?.().catch((error: Error) => run.stop(error.message));
      watchDisk();
      const { sessionId, sessionDir, policy: limits } = plan;
      if (limits.keepAwake === true) awake = keepAwake(sessionId, { tell });
      events = recordRun({
        sessionDir,
        limits,
        usage: () => gateway?.usage(),
        hosts: () => gateway?.hosts() ?? [],
        onNear: (verdict) => call({ kind: 'limit', verdict }),
        onRefusedAgain: () => call({ kind: 'refused', verdict: 'network' }),
      });
      if (!hasActivityLine(plan)) return;
      activity = showActivityLine({
        id: plan.sessionId,
        tell,
        usage: () => gateway?.usage(),
        lastTool: () => gateway?.lastTool(),
        changes: disk && (() => disk.watchChanges()),
      });
    },
    attached(attached) {
      terminal = attached;
    },
    keys: (typed) => growth?.keys(typed) ?? typed,
    beforeOutput: (passed) => activity?.beforeOutput(passed),
    stop() {
      growth?.stop();
      activity?.stop();
      events?.stop();
      awake?.[Symbol.dispose]();
    },
  };
}

/** A program that reads run-claude's output from a pipe, such as a pager, would share the terminal with the line. */
export function hasActivityLine({ tty, program }: Plan): boolean {
  if (tty || agentOf(program) === undefined || process.stderr.isTTY !== true) return false;
  if (process.stdout.isTTY === true) return true;
  const out = fstatSync(1);
  return !out.isFIFO() && !out.isSocket();
}
