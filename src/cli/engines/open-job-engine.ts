import path from 'node:path';
import { usageError } from '../../core/errors.ts';
import { readSmallFile } from '../../core/host/files/small-file.ts';
import type { Policy } from '../../core/types/policy.ts';
import type { ImageRuntime, Runtime } from '../../core/types/runtime.ts';
import { refuseLost, refuseUnsupported } from '../../engines/capabilities/refuse.ts';
import { ownerOf } from '../../engines/engine/connect.ts';
import { openJobEngine } from '../../engines/jobs/job-engine.ts';
import { openSlurm } from '../../engines/jobs/slurm.ts';
import { type JobTarget, targetText } from '../../engines/jobs/target.ts';
import type { CommandContext } from '../context/context.ts';

/** What a job asks of its scheduler, and how it is shown. */
export interface JobEngineRequest {
  readonly target: JobTarget;
  /** Undefined where no agent runs: what a session left is collected. */
  readonly policy: Policy | undefined;
  /** Layers that the command line gives up. */
  readonly without: readonly string[];
  /** How long a job may wait in the queue; undefined: until the user ends it. */
  readonly queueLimitMs?: number | undefined;
}

/** For a collector alone. */
const SMALL = { memoryMb: 1024, cpus: 0, timeoutMs: undefined };

/**
 * The engine whose containers run in jobs. `local`: the user's own engine, which it closes.
 *
 * @throws {RunClaudeError} USAGE for what a job does not support, and without [slurm]; RENDER_LOSS; SCHEDULER_MISSING
 */
export async function openEngineOfJobs(
  { target, policy, without, queueLimitMs }: JobEngineRequest,
  local: () => Promise<ImageRuntime>,
  { env, places, tell, interruption }: Pick<CommandContext, 'env' | 'places'> & Partial<CommandContext>,
): Promise<Runtime> {
  const on = targetText(target);
  const place = { column: 'slurm', named: `--on ${on}` } as const;
  if (policy !== undefined) refuseUnsupported(place, { policy });
  const table = await slurmTableOf(places.configDir);
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  if (uid === 0)
    throw usageError(
      `--on ${on}: root cannot run sessions in jobs`,
      'A job runs as the user who starts it. Start it as an ordinary user of the cluster.',
    );
  if (table === undefined)
    throw usageError(
      `--on ${on}: the configuration has no [slurm]`,
      `Write in ${path.join(places.configDir, 'config.toml')}: [slurm] directory = "/shared/you/run-claude"`,
    );
  const accepted = [...table.withoutLayers, ...without];
  if (policy !== undefined) refuseLost(place, [{ policy }], { accepted });
  const scheduler = await openSlurm(env);
  const { memoryMb, cpus, timeoutMs } = policy ?? SMALL;
  return openJobEngine({
    scheduler,
    target,
    local: await local(),
    shared: table.directory,
    scratch: table.scratch,
    uid,
    gid,
    limits: { memoryMb, cpus, timeoutMs },
    // Without an agent there is nothing to hold to these limits.
    accepted: policy === undefined ? ['memory', 'swap'] : accepted,
    patienceSeconds: table.patience,
    queueLimitMs,
    owner: ownerOf(places.stateDir),
    tell: tell ?? (() => undefined),
    signal: interruption?.signal,
  });
}

async function slurmTableOf(configDir: string) {
  const file = path.join(configDir, 'config.toml');
  const text = readSmallFile(file, 'follow');
  if (text === undefined) return undefined;
  const { readConfigFile } = await import('../../core/config/config-file.ts');
  return readConfigFile(text, file).slurm;
}
