import { existsSync, mkdirSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { removeTree } from '../../core/host/files/remove-tree.ts';
import { announceWait } from '../../core/progress/announce-wait.ts';
import { withLock } from '../../core/store/lock.ts';
import { readJson, writeJsonAtomic } from '../../core/store/record.ts';
import type { Selection } from '../../core/text/selection.ts';
import type { Tell } from '../../core/types/event.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import type { MadeEnvironment } from '../../core/types/setup/environment.ts';
import { openPlace } from '../../engines/engine/place.ts';
import { partDirectory, partOptions } from './place.ts';
import { runSetup } from './run-setup.ts';
import { placeEntries, readSetupFiles, type SetupFile, setupAddress } from './setup-files.ts';
import { setupPolicy } from './setup-plan.ts';

export interface MakeOptions {
  readonly engine: Runtime;
  readonly cacheDir: string;
  readonly tell: Tell;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

/** A setup's files as they were when its environment was addressed, and what it makes of them. */
export interface AddressedEnvironment {
  readonly made: MadeEnvironment;
  readonly files: readonly SetupFile[];
}

/** As long as a setup may run, and its image may be built. */
const WAIT_MS = 2 * 60 * 60_000;

/**
 * What the setup of a policy makes, whether a session ran it or not; undefined for a policy without one. Runs nothing.
 * `selection`: what the session takes from the project. The setup does not read what it leaves out.
 *
 * @throws {RunClaudeError} USAGE for a file that cannot be used
 */
export function addressEnvironment(
  { policy, project, image, user }: Pick<Plan, 'policy' | 'project' | 'image' | 'user'>,
  { selection, cacheDir }: { readonly selection: Selection; readonly cacheDir: string },
): AddressedEnvironment | undefined {
  const { environment } = policy;
  if (environment?.setup === undefined) return undefined;
  const { setup, env } = environment;
  const files = readSetupFiles(project.root, environment.files, selection);
  const { network, networkPresets } = setupPolicy(policy);
  const address = setupAddress({ setup, env, files, image, user, network, networkPresets });
  return { made: { address, dir: path.join(environmentsDir(cacheDir), address) }, files };
}

/**
 * Makes what the plan names as made by its setup; the setup runs where no session ran it with the same inputs. Of several
 * processes that need it, one runs it.
 *
 * @throws {RunClaudeError} SETUP_FAILED; nothing of a failed setup is kept.
 */
export async function makeEnvironment(
  plan: Plan,
  { made, files }: AddressedEnvironment,
  options: MakeOptions,
): Promise<void> {
  if (await isMade(made, plan, options.engine)) return;
  mkdirSync(environmentsDir(options.cacheDir), { recursive: true, mode: 0o700 });
  const { tell, signal } = options;
  const what = `running the setup of the environment for ${plan.project.root}`;
  const lock = { what, waitMs: WAIT_MS, waiting: announceWait(tell), signal };
  await withLock(lockOf(made.dir), lock, async () => {
    if (!(await isMade(made, plan, options.engine))) await make(made, { plan, files }, options);
  });
}

/** The directory of all environments on this machine. */
export function environmentsDir(cacheDir: string): string {
  return path.join(cacheDir, 'environments');
}

/** Written last: a directory without it is what a killed command left. Its modification time is that of the last use. */
export function markerOf(dir: string): string {
  return path.join(dir, 'made.json');
}

/** Held while an environment is made or removed. */
export function lockOf(dir: string): string {
  return `${dir}.lock`;
}

/** Whether it can be used, and marks it as used: what removes unused ones finds it young from then on. */
async function isMade(made: MadeEnvironment, plan: Plan, engine: Runtime): Promise<boolean> {
  const marker = markerOf(made.dir);
  if (readJson(marker, '') === undefined) return false;
  try {
    const now = new Date();
    utimesSync(marker, now, now);
    await partDirectory(engine, made, 'home', plan);
    await partDirectory(engine, made, 'workspace', plan);
    return existsSync(marker);
  } catch {
    return false;
  }
}

interface Inputs {
  readonly plan: Plan;
  readonly files: readonly SetupFile[];
}

async function make(made: MadeEnvironment, { plan, files }: Inputs, options: MakeOptions): Promise<void> {
  const { engine, tell, env, signal } = options;
  const { setup = '' } = plan.policy.environment ?? {};
  const { dir } = made;
  const open = () =>
    Promise.all(
      [partOptions(made, 'home', plan), partOptions(made, 'workspace', plan)].map((part) => openPlace(engine, part)),
    );
  // What a killed command left may be half a setup.
  for (const left of await open()) await left.remove();
  const [home, workspace] = await open();
  if (home === undefined || workspace === undefined) throw new Error('a setup has two places');
  const first = setup.split('\n')[0] ?? '';
  tell({ kind: 'message', level: 'info', text: `Running the setup of the environment, once: ${first}` });
  try {
    await workspace.fill(placeEntries(files));
    const names = files.map((file) => file.path);
    await runSetup({ engine, plan, setup, files: names, home, workspace, dir, tell, env, signal });
    writeJsonAtomic(markerOf(dir), { version: 1, image: plan.image, setup });
  } catch (error) {
    await Promise.all([home.remove(), workspace.remove()]);
    // The log of its network.
    await removeTree(dir);
    throw error;
  }
}
