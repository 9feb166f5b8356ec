import { homeAgent } from '../../agents/agents.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { AddressedCache } from '../../environment/caches/fill/fill-caches.ts';
import type { AddressedEnvironment } from '../../environment/setup/make-environment.ts';
import { readableSelection } from '../../workspace/base/prescan-project.ts';
import { knownTrial, tryLayers } from '../../workspace/layer/try-layers.ts';
import { type PlanFindings, type PlanInput, planBasis, planRun } from '../plan/plan-run.ts';
import { findSpareId, servantIdsWithAccount } from '../record/find/spare-id.ts';
import type { SessionDeps } from '../stage/deps.ts';
import { type ImageDeps, prepareImage, sessionImage } from '../stage/prepare-image.ts';

/** The plan of a session, with what it names that may have to be made before the session. */
export interface MadePlan {
  readonly plan: Plan;
  readonly environment: AddressedEnvironment | undefined;
  readonly caches: readonly AddressedCache[];
}

/**
 * Finds what the plan of a session needs, and makes the plan, once. `newId` gives the ids of the session and of those of
 * other folders. For a session that `isStarting` the image is made and an overlay is tried; otherwise nothing is started or
 * written, and the plan has what is known without that.
 *
 * @throws {RunClaudeError} USAGE for what the engine does not support; what planRun, sessionImage, prepareImage and
 * addressEnvironment throw.
 */
export async function makePlan(
  input: PlanInput,
  newId: () => string,
  deps: ImageDeps,
  isStarting: boolean,
): Promise<MadePlan> {
  const { policy, host, program, project } = input;
  const image = await sessionImage(policy, deps, homeAgent(program).image);
  const { tag, ...rest } = image;
  // Not before the engine answered: a start that fails there leaves nothing on this machine.
  const ids = { sessionId: newId(), alsoIds: input.also.map(newId) };
  const spare = { spareId: findSpareId(host.stateDir, host.uid), servantIdsWithAccount: servantIdsWithAccount() };
  const { user, needsTrial } = planBasis(input, spare);
  const session = { sessionId: ids.sessionId, policy, program, project, user, image: tag, ...rest };
  if (isStarting) await prepareImage(session, deps, policy.rebuild);
  const trial = needsTrial ? await findTrial(session, deps, isStarting) : undefined;
  const environment = await findEnvironment(session, deps);
  const caches = await findCaches(session, deps, isStarting);
  const plan = planRun(input, {
    ...ids,
    ...spare,
    image,
    trial,
    environment: environment?.made,
    caches: caches?.map(({ cache }) => cache),
  });
  return { plan, environment, caches: caches ?? [] };
}

/** Makes what the plan names and no session made yet: what its setup makes, and its caches. */
export async function makeWhatPlanNames(
  { plan, environment, caches }: MadePlan,
  { engine, host, tell, env, interruption }: SessionDeps,
): Promise<void> {
  const options = { engine, cacheDir: host.cacheDir, tell, env, signal: interruption.signal };
  if (environment !== undefined) {
    const { makeEnvironment } = await import('../../environment/setup/make-environment.ts');
    await makeEnvironment(plan, environment, options);
    if (plan.mode === 'bind') tell({ kind: 'message', level: 'info', text: HOME_ALONE });
  }
  if (caches.length === 0) return;
  const { fillCaches } = await import('../../environment/caches/fill/fill-caches.ts');
  await fillCaches(plan, caches, options);
}

const HOME_ALONE =
  'In bind mode the agent gets what the setup made in its home, and not what it made in the project: that stays as it is on this machine. To have both: --copy-workspace.';

/** The parts of the plan that are known before it is made. */
type Session = Pick<Plan, 'sessionId' | 'policy' | 'project' | 'program' | 'user' | 'image' | 'ownImage'>;

async function findTrial(
  { image, ownImage = image, user, sessionId }: Session,
  { engine, host }: ImageDeps,
  isStarting: boolean,
): Promise<PlanFindings['trial']> {
  const tried = { engine, stateDir: host.stateDir, image: ownImage, user };
  return isStarting ? tryLayers({ ...tried, sessionId }) : knownTrial(tried);
}

// Most sessions have neither a setup nor caches: the code for them is loaded only for one that has.

async function findEnvironment(session: Session, { host }: ImageDeps): Promise<AddressedEnvironment | undefined> {
  const { policy, project } = session;
  if (policy.environment?.setup === undefined) return undefined;
  const { addressEnvironment } = await import('../../environment/setup/make-environment.ts');
  return addressEnvironment(session, { cacheDir: host.cacheDir, selection: readableSelection(policy, project.root) });
}

async function findCaches(
  session: Session,
  { host: { cacheDir }, tell }: ImageDeps,
  isStarting: boolean,
): Promise<readonly AddressedCache[] | undefined> {
  const { policy, project } = session;
  if ((policy.caches ?? []).length === 0) return undefined;
  const { addressCaches } = await import('../../environment/caches/fill/fill-caches.ts');
  const selection = readableSelection(policy, project.root);
  return addressCaches(session, { cacheDir, selection, isShownOnly: !isStarting, tell });
}
