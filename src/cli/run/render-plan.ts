import { jsonText } from '../../core/report/json.ts';
import type { ContainerSpec } from '../../core/types/engine.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { RenderForm } from '../../engines/capabilities/columns.ts';
import { collectorSpec, INSIDE } from '../../engines/engine/hardening/hardened.ts';
import { readSeccompProfile } from '../../engines/engine/hardening/seccomp.ts';
import type { OciPlace } from '../../engines/render/oci-config.ts';
import {
  type KubernetesObject,
  renderConfined,
  renderOci,
  renderOwnPods,
  type SessionSpecs,
  withoutParts,
} from '../../engines/render/render.ts';
import { GATEWAY_DIR, gatewayNames } from '../../network/gateway/agent-side.ts';
import { companionMounts, gatewayContainer } from '../../network/gateway/gateway-container.ts';
import { MASKED } from '../../session/plan/mask-plan.ts';
import { plannedAgent } from '../../session/start/planned-containers.ts';
import type { DryRun } from './dry-run-text.ts';

/**
 * The containers of a plan as config.json of OCI bundles, by role, or as objects of Kubernetes: JSON. Starts and writes nothing.
 *
 * @throws {RunClaudeError} RENDER_LOSS for a layer that is lost and not named in `without`
 */
export async function renderedText(
  plan: Plan,
  dry: Omit<DryRun, 'serviceImages'>,
  { form, without }: { readonly form: RenderForm; readonly without: readonly string[] },
): Promise<string> {
  const specs = plannedSpecs(plan, dry, await readSeccompProfile());
  const annotations = { 'run-claude.secrets': listWithin(dry.secrets, MAX_SECRETS_BYTES) };
  if (form === 'oci') {
    const { agent, ...others } = renderOci(specs, (spec) => bundlePlace(spec, plan), { without });
    const named = agent && { ...agent, annotations: { ...agent.annotations, ...annotations } };
    return jsonText({ agent: named, ...others });
  }
  const place = { sockets: new Map([[gatewayNames(plan.sessionId).volume, GATEWAY_DIR]]) };
  const render = form === 'pods' ? renderOwnPods : renderConfined;
  return jsonText(render(specs, place, { without }).map((one) => annotated(one, annotations)));
}

/** An API server takes 256 KiB of annotations in all. */
const MAX_SECRETS_BYTES = 128 << 10;

/** The first ones of a list, as JSON of at most so many bytes. */
function listWithin(list: readonly unknown[], limit: number): string {
  const parts: string[] = [];
  let bytes = 2;
  for (const one of list) {
    const text = JSON.stringify(one);
    bytes += Buffer.byteLength(text) + 1;
    if (bytes > limit) break;
    parts.push(text);
  }
  return `[${parts.join(',')}]`;
}

/** The agent's pod with more annotations; any other object as it is. */
function annotated(one: KubernetesObject, annotations: Readonly<Record<string, string>>): KubernetesObject {
  if (one.kind !== 'Pod' || !one.spec.containers.some(({ name }) => name === 'agent')) return one;
  return { ...one, metadata: { ...one.metadata, annotations: { ...one.metadata.annotations, ...annotations } } };
}

/** The containers of what the other form supports of the plan. The rest is refused, or left out by name. */
function plannedSpecs(whole: Plan, dry: Omit<DryRun, 'serviceImages'>, seccomp: string): SessionSpecs {
  const plan = withoutParts(whole);
  const { sessionId, image } = plan;
  const planned = plannedAgent(plan, dry, seccomp);
  // Values of `--env` are printed nowhere.
  const masked = Object.keys(plan.policy.env).map((name) => [name, MASKED] as const);
  const agent = { ...planned, env: { ...planned.env, ...Object.fromEntries(masked) } };
  const names = gatewayNames(sessionId);
  const workspace = agent.mounts.find(({ target }) => target === '/workspace');
  const layer =
    workspace === undefined || workspace.kind === 'tmpfs'
      ? []
      : [{ ...workspace, target: '/roots/layer', readonly: true }];
  return {
    agent,
    gateway:
      plan.policy.network === 'none'
        ? undefined
        : gatewayContainer({ sessionId, image, seccomp, ...names, companions: companionMounts(plan) }),
    collector: collectorSpec({
      sessionId,
      image,
      seccomp,
      argv: [`${INSIDE}/collector`, 'layer=/roots/layer'],
      mounts: layer,
      stdin: 'stream',
    }),
    plan: whole,
  };
}

/** Places below the bundle, which its user makes. */
function bundlePlace({ mounts, name }: ContainerSpec, { engine }: Plan): OciPlace {
  const volumes = mounts.flatMap((mount) => (mount.kind === 'volume' ? [mount.volume] : []));
  return {
    rootfs: 'rootfs',
    arch: engine.arch,
    volumes: Object.fromEntries(volumes.map((volume) => [volume, `volumes/${volume}`])),
    networkNamespace: `/run/netns/${name}`,
  };
}
