import path from 'node:path';
import { usageError } from '../../core/errors.ts';
import { readSmallFile } from '../../core/host/files/small-file.ts';
import type { Policy } from '../../core/types/policy.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import { lackedLayers, refuseLost, refuseUnsupported } from '../../engines/capabilities/refuse.ts';
import { openClusterApi } from '../../engines/cluster/api.ts';
import { openClusterEngine } from '../../engines/cluster/cluster-engine.ts';
import { openAccess } from '../../engines/cluster/kubeconfig.ts';
import { type ClusterTarget, clusterText } from '../../engines/cluster/target.ts';
import { readSeccompProfile } from '../../engines/engine/hardening/seccomp.ts';
import type { CommandContext } from '../context/context.ts';

/** What a session asks of a cluster. */
export interface ClusterEngineRequest {
  readonly target: ClusterTarget;
  /** Undefined where no agent runs: what a session left is collected. */
  readonly policy: Policy | undefined;
  /** Layers that the command line gives up. */
  readonly without: readonly string[];
}

/** Before the agent's start and after its end. */
const AROUND_AGENT_SECONDS = 15 * 60;
/** init takes less than a second; a node may be busy. */
const PROOF_SECONDS = 60;

/**
 * The engine whose containers are pods of a cluster.
 *
 * @throws {RunClaudeError} USAGE for what a pod does not support, without [kubernetes], and for a context that is not there;
 * RENDER_LOSS
 */
export async function openEngineOfCluster(
  { target, policy, without }: ClusterEngineRequest,
  owner: string,
  { places, tell, interruption }: Pick<CommandContext, 'places'> & Partial<CommandContext>,
): Promise<Runtime> {
  const on = clusterText(target);
  const table = await kubernetesTableOf(places.configDir);
  if (table === undefined)
    throw usageError(
      `--on ${on}: the configuration has no [kubernetes]`,
      `Write in ${path.join(places.configDir, 'config.toml')}: [kubernetes] image = "REPOSITORY@sha256:DIGEST"`,
    );
  const accepted = [...table.withoutLayers, ...without];
  const column = `kubernetes-${table.form}` as const;
  if (policy !== undefined) {
    const place = { column, named: `--on ${on}` };
    refuseUnsupported(place, { policy });
    refuseLost(place, [{ policy, spec: { network: 'none' } }], { accepted });
  }
  const access = await openAccess(target);
  const { timeoutMs } = policy ?? {};
  return openClusterEngine({
    ...table,
    target,
    access,
    api: openClusterApi(access, table.namespace),
    owner,
    seccomp: await readSeccompProfile(),
    lacks: lackedLayers(column, accepted),
    patienceSeconds: table.patience,
    proofSeconds: PROOF_SECONDS,
    deadlineSeconds: timeoutMs === undefined ? table.deadline : Math.ceil(timeoutMs / 1000) + AROUND_AGENT_SECONDS,
    tell: tell ?? (() => undefined),
    signal: interruption?.signal,
  });
}

async function kubernetesTableOf(configDir: string) {
  const file = path.join(configDir, 'config.toml');
  const text = readSmallFile(file, 'follow');
  if (text === undefined) return undefined;
  const { readConfigFile } = await import('../../core/config/config-file.ts');
  return readConfigFile(text, file).kubernetes;
}
