import { readFileSync } from 'node:fs';
import { RunClaudeError } from '../../../core/errors.ts';
import { openProgress } from '../../../core/progress/open-progress.ts';
import type { Container, Mount } from '../../../core/types/engine.ts';
import type { Tell } from '../../../core/types/event.ts';
import type { Plan } from '../../../core/types/plan.ts';
import type { Runtime } from '../../../core/types/runtime.ts';
import { agentSpec } from '../../../engines/engine/hardening/hardened.ts';
import { readSeccompProfile } from '../../../engines/engine/hardening/seccomp.ts';
import type { Place } from '../../../engines/engine/place.ts';
import { joinEnv } from '../../../network/gateway/agent-side.ts';
import { type Gateway, startGateway } from '../../../network/gateway/start-gateway.ts';
import { runWithGateway } from '../../setup/run-with-gateway.ts';
import { setupPlan } from '../../setup/setup-plan.ts';
import type { Archive, Ecosystem } from '../ecosystem.ts';
import type { FillReport, FillRequest } from '../inside/request.ts';

/** The node of every image: no program of a package or of the project. */
const NODE = '/opt/node/package/bin/node';
const CACHE = '/cache';
const PREVIOUS = '/previous';
const FILL_LIMIT_MS = 60 * 60_000;
/** Free space that a cache must leave on the disk. */
const RESERVE_BYTES = 1024 ** 3;
const MAX_ARCHIVE_BYTES = 2 * 1024 ** 3;
/** How long a registry may send nothing before it is asked again, or given up. */
const STALL_MS = 60_000;
const MAX_LINE_CHARACTERS = 4096;

/** A cache that was filled. */
export interface Filled {
  readonly bytes: number;
  /** Paths of archives that the registry does not have, and that may be absent. */
  readonly absent: ReadonlySet<string>;
}

export interface FillRun {
  readonly engine: Runtime;
  readonly plan: Plan;
  readonly ecosystem: Pick<Ecosystem, 'name'>;
  readonly archives: readonly Archive[];
  readonly place: Place;
  /** The read-only mount of an older cache, which may have some of the archives. */
  readonly previous: ((target: string) => Mount) | undefined;
  /** The cache's directory on this machine. */
  readonly dir: string;
  readonly tell: Tell;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

/**
 * Fetches the archives in a container that has no agent, no project, no credential and no variable of the user. Its only
 * program is run-claude's own: it fetches, checks each hash and writes.
 *
 * @throws {RunClaudeError} CACHE_FAILED with the first archive that cannot be had; the signal's reason; the engine's errors
 */
export async function runFill(run: FillRun): Promise<Filled> {
  const { engine, env, signal } = run;
  const plan = fillPlan(run);
  const tell: Tell = (event) => {
    if (event.kind === 'trace') run.tell(event);
  };
  const gateway = await startGateway({ engine, plan, credential: undefined, tell, env });
  let container: Container | undefined;
  try {
    signal.throwIfAborted();
    container = await engine.create(await fillContainer(plan, run, gateway));
    return await watchContainer(container, gateway, run);
  } finally {
    gateway.quit();
    await container?.remove();
    await gateway.stop();
  }
}

/** Nothing that the project asked for, such as variables of its environment, reaches the program. */
function fillPlan({ plan, dir }: FillRun): Plan {
  const own = setupPlan(plan, [], dir);
  const { NODE_EXTRA_CA_CERTS: certificates = '' } = own.env;
  return {
    ...own,
    environment: undefined,
    env: { HOME: '/tmp', PATH: '/usr/bin:/bin', NODE_EXTRA_CA_CERTS: certificates },
    policy: { ...own.policy, environment: undefined, allowAddresses: plan.policy.allowAddresses },
  };
}

async function fillContainer(plan: Plan, { place, previous }: FillRun, gateway: Gateway) {
  const source = readFileSync(new URL('./fill-worker.cjs', import.meta.url), 'utf8');
  return agentSpec({
    sessionId: plan.sessionId,
    image: plan.image,
    seccomp: await readSeccompProfile(),
    runtime: plan.policy.runtime,
    user: plan.user,
    argv: [NODE, '--max-old-space-size=1024', '--eval', source],
    until: gateway.until,
    forwards: gateway.forwards,
    env: joinEnv(plan.env, gateway.env),
    workdir: '/tmp',
    mounts: [place.mount(CACHE, false), ...(previous === undefined ? [] : [previous(PREVIOUS)]), ...gateway.mounts],
    network: gateway.agentNetwork,
    limits: plan.policy,
    tty: false,
    stdin: 'stream',
  });
}

async function watchContainer(container: Container, gateway: Gateway, run: FillRun): Promise<Filled> {
  const { signal, previous, archives } = run;
  const request: FillRequest = {
    archives,
    dir: CACHE,
    previous: previous === undefined ? undefined : PREVIOUS,
    maxArchiveBytes: MAX_ARCHIVE_BYTES,
    reserveBytes: RESERVE_BYTES,
    stallMs: STALL_MS,
  };
  const absent = new Set<string>();
  using progress = openProgress(run.tell, `Filling the ${run.ecosystem.name} cache`);
  progress.count({ done: 0, total: archives.length, unit: 'files' });
  const ending = readReports(container, absent, (done) =>
    progress.count({ done, total: archives.length, unit: 'files' }),
  );
  const { stopped } = await runWithGateway(container, gateway, {
    signal,
    limitMs: FILL_LIMIT_MS,
    onStarted: () => container.stdin?.end(JSON.stringify(request)),
  });
  const end = ending();
  if (end?.kind === 'filled' && stopped === undefined) return { bytes: end.bytes, absent };
  const refused = gateway.hosts().find((total) => total.refused > 0)?.host;
  throw fillFailed(run, stopped, end, refused);
}

function fillFailed(
  { ecosystem }: FillRun,
  stopped: string | undefined,
  end: FillReport | undefined,
  refused: string | undefined,
): RunClaudeError {
  const archive = end?.kind === 'failed' && end.archive !== '' ? `${end.archive}: ` : '';
  const why =
    stopped ??
    (refused === undefined ? undefined : `the gateway refused ${refused}`) ??
    (end?.kind === 'failed' ? end.why : 'its program ended without an answer');
  return new RunClaudeError('CACHE_FAILED', `the ${ecosystem.name} cache was not filled: ${archive}${why}`);
}

/** Returns a function that gives the last report. Paths that are reported as absent are added to `absent`. */
function readReports(
  container: Container,
  absent: Set<string>,
  onProgress: (done: number) => void,
): () => FillReport | undefined {
  let rest = '';
  let last: FillReport | undefined;
  container.stderr.on('data', () => undefined);
  container.stdout.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString('utf8')).split('\n');
    rest = (lines.pop() ?? '').slice(-MAX_LINE_CHARACTERS);
    for (const line of lines) {
      last = JSON.parse(line) as FillReport;
      if (last.kind === 'absent') absent.add(last.path);
      if (last.kind === 'progress') onProgress(last.done);
    }
  });
  return () => last;
}
