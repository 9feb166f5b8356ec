import { homeAgent } from '../../agents/agents.ts';
import { RunClaudeError } from '../../core/errors.ts';
import { announceWait } from '../../core/progress/announce-wait.ts';
import { withLock } from '../../core/store/lock.ts';
import type { AgentPackage } from '../../core/types/agent/agent-package.ts';
import type { Tell } from '../../core/types/event.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { Policy, Service } from '../../core/types/policy.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import { requireImages } from '../../engines/capabilities/require-part.ts';
import { addressImage, type ImageVariant } from '../../environment/image/address.ts';
import type { EnsureImageOptions } from '../../environment/image/ensure.ts';
import type { SessionDeps } from './deps.ts';

/** How long a build waits for another build of the same user. */
const BUILD_WAIT_MS = 60 * 60_000;

/** What an image is addressed and made with. */
export type ImageDeps = Pick<SessionDeps, 'engine' | 'tell' | 'env' | 'host' | 'interruption'>;

type HostCache = { readonly host: Pick<SessionDeps['host'], 'cacheDir'> };

/** What of a plan decides about its images. */
export type ImagePlan = Pick<Plan, 'policy' | 'program' | 'project' | 'user' | 'image' | 'ownImage' | 'claudeVersion'>;

/** The image of a session, whether it is on the engine or not. */
export interface SessionImage {
  readonly tag: string;
  /** As in the plan. */
  readonly ownImage?: string;
  /** The release of Claude Code in it; undefined for the release that this version of run-claude pins. */
  readonly claudeVersion: string | undefined;
}

/**
 * The image that a session would run on, whether it is built or not. `agent`: the layer of its agent, where that has one.
 *
 * @throws {RunClaudeError} CLAUDE_VERSION for a release that cannot be had; what addressCustomImage throws.
 */
export async function sessionImage(
  policy: Pick<Policy, 'image' | 'toolchain' | 'claudeVersion' | 'rebuild' | 'environment'>,
  deps: Omit<ImageDeps, 'host'> & HostCache,
  agent?: AgentPackage,
): Promise<SessionImage> {
  const { engine, env } = deps;
  const claude = await findRelease(policy, deps);
  const ours = addressImage(engine, { env, toolchain: policy.toolchain, claude });
  const rest = { claudeVersion: claude?.version, ...(policy.image === undefined ? {} : { ownImage: ours }) };
  const system = policy.image === undefined ? ours : await addressCustom(engine, policy.image, ours);
  const below = await addressPackages(system, policy.environment?.packages ?? []);
  if (agent === undefined) return { tag: below, ...rest };
  const { addressAgentLayer } = await import('../../environment/image/layers/agent-layer.ts');
  return { tag: addressAgentLayer(engine, below, agent), ...rest };
}

async function addressCustom(runtime: Runtime, reference: string, ours: string): Promise<string> {
  const { addressCustomImage } = await import('../../environment/image/layers/custom-image.ts');
  return addressCustomImage(requireImages(runtime), reference, ours);
}

async function addressPackages(below: string, packages: readonly string[]): Promise<string> {
  if (packages.length === 0) return below;
  const { addressPackageLayer } = await import('../../environment/image/layers/package-layer.ts');
  return addressPackageLayer(below, packages);
}

/**
 * The release of Claude Code that the user chose; undefined for the pinned one.
 *
 * @throws {RunClaudeError} what findClaudeRelease throws.
 */
export async function findRelease(
  { claudeVersion, rebuild }: Pick<Policy, 'claudeVersion' | 'rebuild'>,
  { engine, host, tell, interruption }: Omit<ImageDeps, 'env' | 'host'> & HostCache,
): Promise<ImageVariant['claude']> {
  if (claudeVersion === undefined) return undefined;
  // No other start waits for this code.
  const { findClaudeRelease } = await import('../../environment/image/claude-release.ts');
  const { signal } = interruption;
  const { arch } = engine.facts;
  return findClaudeRelease(claudeVersion, { arch, cacheDir: host.cacheDir, refresh: rebuild, tell, signal });
}

/**
 * Makes sure that the engine has the plan's image: builds it when it is missing, or where `isRebuild` asks for it. A
 * custom image gets run-claude's layers over it and is attacked by the probes first.
 *
 * @throws {RunClaudeError} IMAGE_MISSING or IMAGE_REFUSED for a custom image; what ensureImage throws.
 */
export async function prepareImage(plan: ImagePlan, deps: ImageDeps, isRebuild = false): Promise<void> {
  const { image: reference } = plan.policy;
  if ((reference !== undefined || !isRebuild) && (await hasImages(plan, deps.engine))) return;
  const engine = requireImages(deps.engine);
  const { making, ours } = await ensureOurs(plan, deps, isRebuild);
  const system = await ensureSystem(plan.policy, ours, making, deps);
  const { image: agent } = homeAgent(plan.program);
  let tag = system;
  if (agent !== undefined) {
    const { ensureAgentLayer } = await import('../../environment/image/layers/agent-layer.ts');
    tag = await ensureAgentLayer(engine, { ...making, below: system, agent });
  }
  if (reference !== undefined && tag !== plan.image) {
    throw new RunClaudeError('IMAGE_MISSING', `${reference} is no longer the image that this session began with`);
  }
}

/**
 * The images of the plan's services, by name; each is made where the engine does not have it, as the agent's is. A
 * service that names neither an image nor packages has the agent's image.
 *
 * @throws {RunClaudeError} as {@link prepareImage}
 */
export async function prepareServiceImages(plan: Plan, deps: ImageDeps): Promise<ReadonlyMap<string, string>> {
  const tags = new Map<string, string>();
  let made: Awaited<ReturnType<typeof ensureOurs>> | undefined;
  for (const { name, image, packages } of plan.policy.services ?? []) {
    if (image === undefined && packages.length === 0) {
      tags.set(name, plan.image);
      continue;
    }
    const address = await serviceAddress({ image, packages }, plan, deps);
    if (!(await requireImages(deps.engine).images.has(address))) {
      made ??= await ensureOurs(plan, deps, false);
      await ensureSystem({ image, environment: { packages } }, made.ours, made.making, deps);
    }
    tags.set(name, address);
  }
  return tags;
}

/** The addresses of the images of the plan's services, whether they are built or not. */
export async function serviceImages(plan: Plan, deps: ImageDeps): Promise<ReadonlyMap<string, string>> {
  const tags = (plan.policy.services ?? []).map(
    async (service) => [service.name, await serviceAddress(service, plan, deps)] as const,
  );
  return new Map(await Promise.all(tags));
}

async function serviceAddress(
  { image, packages }: Pick<Service, 'image' | 'packages'>,
  plan: Plan,
  deps: ImageDeps,
): Promise<string> {
  if (image === undefined && packages.length === 0) return plan.image;
  const { toolchain } = plan.policy;
  const claude = await findRelease({ claudeVersion: plan.claudeVersion, rebuild: false }, deps);
  const ours = addressImage(deps.engine, { env: deps.env, toolchain, claude });
  return addressPackages(image === undefined ? ours : await addressCustom(deps.engine, image, ours), packages);
}

/** run-claude's own image, and what making layers over it needs. */
async function ensureOurs(plan: ImagePlan, deps: ImageDeps, isRebuild: boolean) {
  const { tell, env, host } = deps;
  const engine = requireImages(deps.engine);
  const { signal } = deps.interruption;
  const { toolchain, runtime } = plan.policy;
  // Loaded only where something is built: a start does not wait for it.
  const [{ ensureImage }, { refuseOpenImage }] = await Promise.all([
    import('../../environment/image/ensure.ts'),
    import('./probe-layers.ts'),
  ]);
  const { user } = plan;
  const prove = (image: string): Promise<void> => refuseOpenImage(engine, { image, runtime, user });
  const making = {
    cacheDir: host.cacheDir,
    rebuild: isRebuild,
    tell,
    signal,
    prove,
    exclusive: buildLock(`building the image for ${plan.project.root}`, tell, signal),
  };
  const claude = await findRelease({ claudeVersion: plan.claudeVersion, rebuild: false }, deps);
  const ours = await ensureImage(engine, { ...making, env, toolchain, claude });
  return { making, ours: ours.tag };
}

/** The custom image that is asked for, or run-claude's own, with its packages. */
async function ensureSystem(
  { image: reference, environment }: Pick<Policy, 'image'> & { readonly environment?: Packages | undefined },
  ours: string,
  making: Awaited<ReturnType<typeof ensureOurs>>['making'],
  deps: ImageDeps,
): Promise<string> {
  const { env } = deps;
  const engine = requireImages(deps.engine);
  const { tell, prove } = making;
  let system = ours;
  if (reference !== undefined) {
    const { ensureCustomImage } = await import('../../environment/image/layers/custom-image.ts');
    system = await ensureCustomImage(engine, { reference, ours, tell, prove });
  }
  const packages = environment?.packages ?? [];
  if (packages.length === 0) return system;
  const { ensurePackageLayer } = await import('../../environment/image/layers/package-layer.ts');
  const isCustom = reference !== undefined;
  return ensurePackageLayer(engine, { ...making, env, below: system, isCustom, packages });
}

type Packages = Pick<NonNullable<Policy['environment']>, 'packages'>;

/** A runtime that makes no image has the one that its nodes pull. */
async function hasImages({ image, ownImage = image }: ImagePlan, { images }: Runtime): Promise<boolean> {
  return images === undefined || ((await images.has(image)) && (ownImage === image || (await images.has(ownImage))));
}

/** Of several builds of one user, one runs at a time. Another build names the one that it waits for. */
export function buildLock(what: string, tell: Tell, signal: AbortSignal): EnsureImageOptions['exclusive'] {
  const options = { what, waitMs: BUILD_WAIT_MS, signal, waiting: announceWait(tell) };
  return (file, body) => withLock(file, options, body);
}
