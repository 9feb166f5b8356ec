import { setTimeout as sleep } from 'node:timers/promises';
import { formatDurationMs, formatSizeMb } from '../../core/config/values/quantities.ts';
import { RunClaudeError } from '../../core/errors.ts';
import type { Tell } from '../../core/types/event.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { Service } from '../../core/types/policy.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import { type Companion, type CompanionSession, openCompanion } from '../../network/companion/companion.ts';
import { SOCKETS_ROOT } from '../../network/companion/companion-place.ts';
import { OWNED_DATA } from './places.ts';
import { type ProgramParts, programOf } from './program.ts';
import type { ServiceLog } from './service-log.ts';

const READY_PAUSE_S = 0.1;
const DISK_PAUSE_S = 5;
/** Counts by one process in the container. */
const COUNTS = 4;
/** A service can stop that process, which has the same user, and would have no limit. */
const COUNTS_MS = 120_000;
const FULL = 42;
const UNREADABLE = 43;

export interface ServiceRun {
  readonly engine: Runtime;
  readonly tell: Tell;
  readonly signal: AbortSignal;
  readonly plan: Pick<Plan, 'policy' | 'sessionId'>;
  readonly container: CompanionSession;
  readonly log: ServiceLog;
  /** `label`: of the volume of its data, where that outlives the session. */
  readonly parts: ProgramParts & { readonly data: string; readonly label?: string };
}

/** A service whose container exists. */
export interface RunningService {
  /** Resolves when it can be used. */
  readonly ready: Promise<void>;
  readonly companion: Companion;
  /** Removes its container and the volume of its sockets. */
  stop(): Promise<void>;
}

/**
 * Creates a service's container and starts it. What was made is removed where this throws.
 *
 * @throws {RunClaudeError} the engine's error. `ready` rejects with SERVICE_FAILED for a service that ends or never gets
 * ready, with its last lines.
 */
export async function openService(service: Service, run: ServiceRun): Promise<RunningService> {
  const { engine, container, tell, log, plan, parts } = run;
  await engine.createVolume({ name: parts.data, labels: { 'run-claude.session': parts.label ?? container.sessionId } });
  let companion: Companion;
  let isUsed = false;
  // Before that its end is an error, and no session goes on without it.
  const tellOnceUsed: Tell = (event) => {
    if (isUsed || event.kind !== 'message') tell(event);
  };
  try {
    const program = { ...programOf(plan, service, parts), onOutput: (bytes: Buffer) => log.write(bytes) };
    companion = await openCompanion(engine, container, program, tellOnceUsed);
  } catch (error) {
    await engine.removeVolume(parts.data);
    throw error;
  }
  const stopping = new AbortController();
  const ready = (async () => {
    await companion.start();
    await untilReady(service, companion, log, run.signal);
    isUsed = true;
    void holdToLimit(service, companion, tell, stopping.signal);
  })();
  // Awaited later, or never, where another part of the start fails.
  ready.catch(() => undefined);
  return {
    ready,
    companion,
    async stop() {
      stopping.abort();
      await companion.stop();
    },
  };
}

/** One command asks again and again, so that the engine starts one process for all attempts. */
async function untilReady(service: Service, companion: Companion, log: ServiceLog, signal: AbortSignal): Promise<void> {
  const { name, port, ready = `exec 3<>/dev/tcp/127.0.0.1/${port}`, readyMs } = service;
  const asked = `until (eval "$1") </dev/null >/dev/null 2>&1; do sleep ${READY_PAUSE_S}; done`;
  const stopped = new AbortController();
  const any = AbortSignal.any([signal, stopped.signal]);
  const answer = await Promise.race([
    companion.exec(['/bin/bash', '-c', asked, 'bash', ready]).then(
      ({ status }) => (status === 0 ? ('ready' as const) : ('ended' as const)),
      () => 'ended' as const,
    ),
    companion.ended.then(() => 'ended' as const),
    sleep(readyMs, 'late' as const, { signal: any }).catch(() => 'stopped' as const),
  ]);
  stopped.abort();
  if (answer === 'ready') return;
  signal.throwIfAborted();
  if (answer === 'late')
    throw serviceFailed(`the service ${name} is not ready after ${formatDurationMs(readyMs)}`, log);
  // The command inside ends with the container, before the engine reports its status.
  const status = await Promise.race([companion.ended, sleep(5000, undefined)]);
  throw serviceFailed(`the service ${name} ended${status === undefined ? '' : ` with status ${status}`}`, log);
}

/**
 * Adds up what the service can write to besides memory, its sockets' directory too. What it may not list itself could
 * have any size.
 */
const COUNT = [
  `for i in {1..${COUNTS}}; do`,
  `  sleep ${DISK_PAUSE_S}`,
  `  all=$(LC_ALL=C du -skxc ${OWNED_DATA} ${SOCKETS_ROOT} 2>&1)`,
  `  case $all in *'Permission denied'*) exit ${UNREADABLE};; esac`,
  // The last line is the sum.
  `  n=$\{all##*$'\\n'}; n=$\{n%%[^0-9]*}`,
  `  [ "$\{n:-999999999999}" -le "$1" ] || exit ${FULL}`,
  'done',
].join('\n');

/** Ends a service that writes more than its limit. A count that fails, for instance because it was killed, ends it too. */
async function holdToLimit(
  { name, diskMb }: Service,
  companion: Companion,
  tell: Tell,
  stopping: AbortSignal,
): Promise<void> {
  let hasEnded = false;
  void companion.ended.then(() => {
    hasEnded = true;
  });
  let status: number | undefined = 0;
  while (status === 0 && !hasEnded && !stopping.aborted)
    status = await Promise.race([
      companion.exec(['/bin/bash', '-c', COUNT, 'bash', `${diskMb * 1024}`]).then(
        (result) => result.status,
        () => undefined,
      ),
      sleep(COUNTS_MS, undefined, { signal: stopping, ref: false }).catch(() => undefined),
    ]);
  // The engine reports the end of the container a moment later than that of what ran in it.
  await Promise.race([companion.ended, sleep(1000)]);
  if (hasEnded || stopping.aborted) return;
  const why =
    status === FULL
      ? `its data is larger than ${formatSizeMb(diskMb)}`
      : status === UNREADABLE
        ? 'its data has a directory that it may not list, so it cannot be counted'
        : 'its data cannot be counted';
  tell({ kind: 'message', level: 'warning', text: `the service ${name} was stopped: ${why}` });
  await companion.end('SIGKILL').catch(() => undefined);
}

/** `keys`: those of its table that decide about it. */
export function serviceFailed(what: string, log: ServiceLog, keys = 'command, port and ready'): RunClaudeError {
  const last = log.lastLines();
  return new RunClaudeError('SERVICE_FAILED', last === '' ? `${what}; it printed nothing` : `${what}:\n${last}`, {
    hint: `Check its ${keys} in the [[service]] table.`,
  });
}
