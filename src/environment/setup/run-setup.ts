import { statfs } from 'node:fs/promises';
import { formatSizeMb } from '../../core/config/values/quantities.ts';
import { RunClaudeError } from '../../core/errors.ts';
import { openProgress } from '../../core/progress/open-progress.ts';
import type { Container } from '../../core/types/engine.ts';
import type { Tell } from '../../core/types/event.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import { agentSpec } from '../../engines/engine/hardening/hardened.ts';
import { readSeccompProfile } from '../../engines/engine/hardening/seccomp.ts';
import type { Place } from '../../engines/engine/place.ts';
import { joinEnv } from '../../network/gateway/agent-side.ts';
import { type Gateway, startGateway } from '../../network/gateway/start-gateway.ts';
import { runWithGateway, type Stop } from './run-with-gateway.ts';
import { setupPlan } from './setup-plan.ts';

/**
 * Runs the command, then removes what sessions must not get: the copies of the project's files, which are in their own
 * base, and downloads of package managers.
 */
const SCRIPT = `bash -e -c "$1" </dev/null || exit
shift
for file in "$@"; do rm -f -- "$file"; done
rm -rf "$HOME/.npm/_cacache" "$HOME/.npm/_logs" "$HOME/.cache/pip" "$HOME/.cache/yarn" "$HOME/.cache/uv"
`;

const SETUP_LIMIT_MS = 60 * 60_000;
const WATCH_MS = 1000;
/** Free space that a setup must leave on the disk. */
const RESERVE_MB = 1024;
const LITTLE_SPACE = `has less than ${formatSizeMb(RESERVE_MB)} of free space`;
/** Lines of a failed setup that the user sees. */
const SHOWN_LINES = 25;
const MAX_OUTPUT_CHARACTERS = 65_536;

export interface SetupRun {
  readonly engine: Runtime;
  readonly plan: Plan;
  readonly setup: string;
  /** Paths of the project's files that are in the workspace. */
  readonly files: readonly string[];
  readonly home: Place;
  readonly workspace: Place;
  /** The environment's directory on this machine. */
  readonly dir: string;
  readonly tell: Tell;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

/**
 * Runs a setup to its end, in a container like the agent's: the same user, seccomp profile and limits, a read-only system,
 * no capability. It has no credential, no variable of the user, and no host but the registries of the user's presets.
 *
 * @throws {RunClaudeError} SETUP_FAILED after its last lines were shown; DISK_FULL before it begins; what starting a
 * container and gateway throws.
 */
export async function runSetup(run: SetupRun): Promise<void> {
  const { engine, tell, signal } = run;
  if ((await freeMb(run)) < RESERVE_MB)
    throw new RunClaudeError('DISK_FULL', `the disk of ${run.dir} ${LITTLE_SPACE}, so no setup can run`, {
      hint: 'Free some space there. run-claude gc --dry-run lists what run-claude can remove.',
    });
  const argv = ['/bin/bash', '-c', SCRIPT, 'setup', run.setup, ...run.files];
  const plan = setupPlan(run.plan, argv, run.dir);
  const gateway = await startGateway({ engine, plan, credential: undefined, tell: quietly(tell), env: run.env });
  let container: Container | undefined;
  try {
    signal.throwIfAborted();
    container = await engine.create(await setupContainer(plan, run, gateway));
    await runContainer(container, gateway, run);
  } finally {
    gateway.quit();
    await container?.remove();
    await gateway.stop();
  }
}

async function setupContainer(plan: Plan, { home, workspace }: SetupRun, gateway: Gateway) {
  return agentSpec({
    sessionId: plan.sessionId,
    image: plan.image,
    seccomp: await readSeccompProfile(),
    runtime: plan.policy.runtime,
    user: plan.user,
    argv: plan.program.kind === 'exec' ? plan.program.argv : [],
    until: gateway.until,
    forwards: gateway.forwards,
    env: joinEnv(plan.env, gateway.env),
    workdir: '/workspace',
    mounts: [workspace.mount('/workspace', false), home.mount('/home/agent', false), ...gateway.mounts],
    network: gateway.agentNetwork,
    limits: plan.policy,
    tty: false,
    stdin: 'none',
  });
}

async function runContainer(container: Container, gateway: Gateway, run: SetupRun): Promise<void> {
  const { tell, signal } = run;
  let output = '';
  using progress = openProgress(tell, 'Running the setup');
  for (const stream of [container.stdout, container.stderr])
    stream.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString('utf8')).slice(-MAX_OUTPUT_CHARACTERS);
      progress.output(chunk);
    });
  const { status, stopped } = await runWithGateway(container, gateway, {
    signal,
    limitMs: SETUP_LIMIT_MS,
    watch: (stop) => watchRoom(run, stop),
  });
  if (status === 0 && stopped === undefined) return;
  const refused = gateway.hosts().filter((total) => total.refused > 0);
  showFailure(output, [...new Set(refused.map(({ host }) => host))], tell);
  throw new RunClaudeError(
    'SETUP_FAILED',
    stopped === undefined
      ? `the setup of the environment ended with status ${status}`
      : `the setup of the environment was stopped: ${stopped}`,
    { hint: 'Correct setup in the [environment] table. Nothing of this run was kept.' },
  );
}

function showFailure(output: string, refused: readonly string[], tell: Tell): void {
  const lines = output.trimEnd().split('\n').slice(-SHOWN_LINES);
  for (const text of lines) tell({ kind: 'message', level: 'error', text });
  if (refused.length === 0) return;
  const text = `A setup reaches package registries only. It was refused: ${refused.slice(0, 8).join(', ')}`;
  tell({ kind: 'message', level: 'error', text });
}

/** Free space for the setup. What is in the engine's volumes cannot be measured from here. */
async function freeMb({ dir, home }: Pick<SetupRun, 'dir' | 'home'>): Promise<number> {
  if (home.kind !== 'directory') return Number.POSITIVE_INFINITY;
  const { bavail, bsize } = await statfs(dir);
  return (bavail * bsize) / 1024 ** 2;
}

/** Stops a setup that fills the disk of this machine. */
async function watchRoom(run: SetupRun, stop: Stop): Promise<() => void> {
  const { diskMb } = run.plan;
  const least = (await freeMb(run)) - diskMb;
  const timer = setInterval(() => {
    freeMb(run).then(
      (free) => {
        if (free < least) stop(`it wrote more than ${formatSizeMb(diskMb)} (--disk)`);
        else if (free < RESERVE_MB) stop(`the disk ${LITTLE_SPACE}`);
      },
      () => undefined,
    );
  }, WATCH_MS);
  return () => clearInterval(timer);
}

/** Without the lines about a session that its gateway prints. */
function quietly(tell: Tell): Tell {
  return (event) => {
    if (event.kind !== 'message' || event.level !== 'info') tell(event);
  };
}
