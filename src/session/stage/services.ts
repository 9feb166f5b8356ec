import { openProgress } from '../../core/progress/open-progress.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { Service } from '../../core/types/policy.ts';
import { dataVolume } from '../../environment/services/places.ts';
import { openService, type ServiceRun } from '../../environment/services/run-service.ts';
import { seededVolume } from '../../environment/services/seed.ts';
import { openServiceLog } from '../../environment/services/service-log.ts';
import { readSetupFiles } from '../../environment/setup/setup-files.ts';
import { readableSelection } from '../../workspace/base/prescan-project.ts';
import type { CleanupGroup } from './cleanup-stack.ts';
import type { SessionDeps } from './deps.ts';
import { prepareServiceImages } from './prepare-image.ts';

type ServiceDeps = Pick<SessionDeps, 'engine' | 'tell' | 'env' | 'host' | 'interruption'>;

/**
 * Starts the plan's services, each when those that it reaches are ready, and waits until all of them can be used. What
 * was started is in `group`, also where this throws.
 *
 * @throws {RunClaudeError} SERVICE_FAILED for one that ends or never gets ready, with its last lines; what
 * prepareServiceImages throws; the engine's error
 */
export async function startServices(
  plan: Plan,
  deps: ServiceDeps,
  seccomp: string,
  group: CleanupGroup,
): Promise<void> {
  const services = plan.policy.services ?? [];
  if (services.length === 0) return;
  const images = await prepareServiceImages(plan, deps);
  const { tell } = deps;
  tell({
    kind: 'message',
    level: 'info',
    text: `Starting services: ${services.map(({ name }) => name).join(', ')}...`,
  });
  using progress = openProgress(tell, 'Starting services');
  // Of several that fail, the first is shown; the others stop waiting.
  const failed = new AbortController();
  const signal = AbortSignal.any([deps.interruption.signal, failed.signal]);
  const started = new Map<string, Promise<void>>();
  let ready = 0;
  // The list is in an order in which each comes after those that it reaches.
  for (const service of services) {
    const before = service.reaches.map((name) => started.get(name));
    const one = Promise.all(before).then(async () => {
      signal.throwIfAborted();
      await startService(service, { plan, deps, images, seccomp, group, signal });
      ready += 1;
      progress.count({ done: ready, total: services.length, unit: 'services' });
    });
    one.catch((error: unknown) => failed.abort(error));
    started.set(service.name, one);
  }
  await Promise.allSettled(started.values());
  signal.throwIfAborted();
}

interface Start {
  readonly plan: Plan;
  readonly deps: ServiceDeps;
  /** By the name of the service. */
  readonly images: ReadonlyMap<string, string>;
  readonly seccomp: string;
  readonly group: CleanupGroup;
  readonly signal: AbortSignal;
}

async function startService(service: Service, start: Start): Promise<void> {
  const { plan, deps, seccomp, group, signal } = start;
  const { engine, tell, host } = deps;
  const { sessionId, policy, sessionDir } = plan;
  const image = imageOf(service, start);
  const data = dataVolume(sessionId, service.name);
  const run: ServiceRun = {
    engine,
    tell,
    signal,
    plan,
    container: { sessionId, image, seccomp, runtime: policy.runtime },
    log: openServiceLog(sessionDir, service.name),
    parts: { data },
  };
  const seed = await seedOf(service, start, run, host.cacheDir);
  // A resumed session has none of the data of an earlier run.
  await engine.removeVolume(data);
  const running = await openService(service, { ...run, parts: { data, seed } });
  group.use(running, async (one) => {
    await one.stop();
    await engine.removeVolume(data);
  });
  await running.ready;
}

async function seedOf(service: Service, start: Start, run: ServiceRun, cacheDir: string): Promise<string | undefined> {
  const { seed } = service;
  if (seed === undefined) return undefined;
  const { policy, project } = start.plan;
  const selection = readableSelection(policy, project.root);
  const filesOf = (one: Service) => readSetupFiles(project.root, one.files, selection, `[[service]] ${one.name}`);
  const files = filesOf(service);
  const reached = allReached(service, policy.services ?? []).map((one) => ({ service: one, files: filesOf(one) }));
  const images = [service, ...reached.map((one) => one.service)].map((one) => imageOf(one, start));
  return seededVolume({ service: { ...service, seed }, reached, files, images }, run, cacheDir);
}

/** The services that this one reaches, and those that they reach, in the order of the list. */
function allReached({ reaches }: Service, all: readonly Service[]): readonly Service[] {
  const names = new Set(reaches);
  // Each comes after those that it reaches.
  for (const one of [...all].reverse()) if (names.has(one.name)) for (const name of one.reaches) names.add(name);
  return all.filter((one) => names.has(one.name));
}

const imageOf = ({ name }: Service, { images, plan }: Start): string => images.get(name) ?? plan.image;
