import { AGENT_HOME_PATHS } from '../../agents/agents.ts';
import { RunClaudeError } from '../../core/errors.ts';
import { freeDiskMb } from '../../core/host/facts.ts';
import type { Container } from '../../core/types/engine.ts';
import type { Tell } from '../../core/types/event.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { TestCommand } from '../../core/types/test.ts';
import { readSeccompProfile } from '../../engines/engine/hardening/seccomp.ts';
import { useCaches } from '../../environment/caches/use-caches.ts';
import { copyPart } from '../../environment/setup/copy-part.ts';
import { type AgentSide, agentSide } from '../../network/gateway/agent-side.ts';
import { type Gateway, startGateway } from '../../network/gateway/start-gateway.ts';
import type { ScratchOver } from '../../workspace/layer/layer.ts';
import { openScratchLayer } from '../../workspace/layer/strategies.ts';
import { agentContainer } from '../stage/agent-container.ts';
import { type CleanupStack, openCleanupStack } from '../stage/cleanup-stack.ts';
import type { SessionDeps } from '../stage/deps.ts';
import { openHome } from '../stage/home/home.ts';
import { startServices } from '../stage/services.ts';
import { openOutputTail } from './output-tail.ts';
import type { CommandRun } from './verdict.ts';

const DISK_INTERVAL_MS = 1000;

/** Where tests of a session run. */
export interface TestPlace {
  readonly plan: Plan;
  /** The workspace of the session's record. */
  readonly workspace: unknown;
  readonly deps: Pick<SessionDeps, 'engine' | 'env' | 'host' | 'interruption' | 'tell'>;
}

/**
 * Runs a command in a scratch layer over the session's result or over the project as it was, as hardened as the agent and
 * with a new home: neither run can prepare anything for the next. It has the session's services, and the session's gateway
 * without a credential where it needs the network.
 *
 * @throws {RunClaudeError} STRATEGY_UNUSABLE where the strategy joins no layers; what the layer, the services, the gateway
 * and the engine throw; the interruption's reason
 */
export async function runCommand(test: TestCommand, over: ScratchOver, place: TestPlace): Promise<CommandRun> {
  const { workspace, deps } = place;
  const { engine, interruption } = deps;
  // Of each run, nothing that is not about the test is printed.
  const tell: Tell = (event) => {
    if (event.kind !== 'message' || event.level !== 'info') deps.tell(event);
  };
  const plan = testPlan(place.plan, test);
  const cleanup = openCleanupStack(tell);
  try {
    const layer = cleanup.use(await openScratchLayer({ plan, engine, tell }, workspace, over), (one) => one.close());
    if (!layer.writable)
      throw new RunClaudeError(
        'STRATEGY_UNUSABLE',
        `the strategy ${plan.strategy} has no layer that tests can write to`,
      );
    const seccomp = await readSeccompProfile();
    const home = cleanup.use(await openHome(engine, plan), (one) => one.remove());
    const caches = await useCaches(engine, plan);
    if (caches.homeEntries.length > 0) await home.fill(caches.homeEntries);
    await copyPart(engine, plan, 'home', (target) => home.mount(target, false), AGENT_HOME_PATHS);
    const gateway = plan.policy.network === 'none' ? undefined : await openGateway(plan, { ...deps, tell }, cleanup);
    await startServices(plan, { ...deps, tell }, seccomp, cleanup.group());
    const side: AgentSide = gateway ?? agentSide(plan, undefined, deps.env, engine);
    const spec = agentContainer(plan, {
      seccomp,
      argv: ['/bin/sh', '-c', test.command],
      env: caches.env,
      mounts: [...layer.mounts, home.mount('/home/agent', false), ...caches.mounts],
      gateway: side,
      tied: true,
    });
    await gateway?.prepared;
    interruption.signal.throwIfAborted();
    const container = cleanup.use(await engine.create({ ...spec, name: `${spec.name}-test`, role: 'task' }), (one) =>
      one.remove(),
    );
    return await runContainer(container, test, plan, { signal: interruption.signal, gateway });
  } finally {
    await cleanup.close();
  }
}

/** The session's plan without the agent, its credential and its servers; without a network where the test needs none. */
function testPlan(plan: Plan, { needsNetwork }: TestCommand): Plan {
  const policy: Plan['policy'] = {
    ...plan.policy,
    credentials: 'none',
    mcpServers: [],
    mcpPrograms: [],
    allowGitPush: false,
    tmpdir: undefined,
    ...(needsNetwork ? {} : { network: 'none' }),
  };
  return { ...plan, policy, tty: false };
}

async function openGateway(
  plan: Plan,
  { engine, env, tell }: TestPlace['deps'],
  cleanup: CleanupStack,
): Promise<Gateway> {
  return cleanup.use(await startGateway({ engine, plan, credential: undefined, env, tell }), async (one) => {
    one.quit();
    await one.stop();
  });
}

async function runContainer(
  container: Container,
  { timeoutMs }: TestCommand,
  { engine, sessionDir, diskMb }: Plan,
  { signal, gateway }: { readonly signal: AbortSignal; readonly gateway: Gateway | undefined },
): Promise<CommandRun> {
  const output = openOutputTail([container.stdout, container.stderr]);
  let stopped: CommandRun['stopped'] | 'interrupted';
  const stop = (why: typeof stopped): void => {
    stopped ??= why;
    void container.remove().catch(() => undefined);
  };
  const interrupt = (): void => stop('interrupted');
  signal.addEventListener('abort', interrupt, { once: true });
  const freeMb = freeDiskMb(sessionDir);
  const timers = [
    setTimeout(() => stop('time'), timeoutMs),
    setInterval(() => {
      if (engine.local && freeMb - freeDiskMb(sessionDir) > diskMb) stop('disk');
    }, DISK_INTERVAL_MS),
  ];
  const began = performance.now();
  try {
    await container.start();
    gateway?.begin();
    const gone = new Promise<undefined>((resolve) => {
      timers.push(setInterval(() => stopped !== undefined && resolve(undefined), 100));
    });
    const status = await Promise.race([container.wait().catch((error: unknown) => orStopped(error, stopped)), gone]);
    const ms = Math.round(performance.now() - began);
    signal.throwIfAborted();
    if (stopped !== undefined && stopped !== 'interrupted')
      return { ms, status: undefined, stopped, lines: output.lines() };
    return { ms, status, lines: output.lines() };
  } finally {
    for (const timer of timers) clearTimeout(timer);
    signal.removeEventListener('abort', interrupt);
  }
}

/** A container that was removed has no status. */
function orStopped(error: unknown, stopped: unknown): undefined {
  if (stopped === undefined) throw error;
  return undefined;
}
