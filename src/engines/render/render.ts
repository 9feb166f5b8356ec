import type { ContainerSpec } from '../../core/types/engine.ts';
import type { Plan } from '../../core/types/plan.ts';
import { formPlace, type RenderForm } from '../capabilities/columns.ts';
import { refuseLost, refuseUnsupported } from '../capabilities/refuse.ts';
import { containerBody } from '../engine/body.ts';
import { withProof } from '../engine/hardening/proof.ts';
import { closedPolicy, type NetworkPolicy, outwardPolicy, pairPolicies } from './network-policy.ts';
import { type OciConfig, type OciPlace, ociConfig } from './oci-config.ts';
import { LATER_GATEWAY, overTcp, withTries } from './own-pod.ts';
import { type Pod, type PodPlace, podOf } from './pod.ts';

/** The containers of a session. Each role is its own container in every target. */
export interface SessionSpecs {
  readonly agent: ContainerSpec;
  /** Undefined with `--network none`. */
  readonly gateway?: ContainerSpec | undefined;
  readonly collector: ContainerSpec;
  /** The plan that they are of: not all of it is a container. */
  readonly plan: PlannedParts;
}

export interface RenderOptions {
  /** Layers that the user gives up, by name. */
  readonly without: readonly string[];
}

const rolesOf = ({ agent, gateway, collector }: SessionSpecs): ContainerSpec[] => [
  agent,
  ...(gateway === undefined ? [] : [gateway]),
  collector,
];

/**
 * Refuses what a form does not support of these containers and of their session, apart from the layers that the user named.
 *
 * @throws {RunClaudeError} RENDER_LOSS; USAGE for a name that is not a layer of the form
 */
function refuseForm(form: RenderForm, specs: SessionSpecs, without: readonly string[]): void {
  const place = formPlace(form);
  const asked = [{ policy: specs.plan.policy, also: specs.plan.also }, ...rolesOf(specs).map((spec) => ({ spec }))];
  for (const one of asked) refuseUnsupported(place, one);
  refuseLost(place, asked, { accepted: without });
}

/** The requests to an engine, in the order of their start. */
export function renderEngine(specs: SessionSpecs, owner: string): ReturnType<typeof containerBody>[] {
  return rolesOf(specs).map((spec) => containerBody(withProof(spec), owner));
}

/**
 * A bundle's config.json for each container, by role. Init proves the layers in each of them.
 *
 * @throws {RunClaudeError} RENDER_LOSS for a layer that is lost and not named in `without`
 */
export function renderOci(
  specs: SessionSpecs,
  place: (spec: ContainerSpec) => OciPlace,
  { without }: RenderOptions,
): Readonly<Record<string, OciConfig>> {
  const all = rolesOf(specs).map(withProof);
  refuseForm('oci', specs, without);
  return Object.fromEntries(all.map((spec) => [spec.role, ociConfig(spec, place(spec))]));
}

/** What an API server of Kubernetes is sent. */
export type KubernetesObject = Pod | NetworkPolicy;

/**
 * One pod of agent and gateway, which share a directory of sockets, and the collector, which starts after the agent's end:
 * both of the RuntimeClass `run-claude`, whose wrapper gives each container what a PodSpec has no field for. In the order of
 * their start.
 *
 * @throws {RunClaudeError} RENDER_LOSS for a layer that is lost and not named in `without`
 */
export function renderConfined(
  specs: SessionSpecs,
  place: PodPlace,
  { without }: RenderOptions,
): readonly KubernetesObject[] {
  const { agent, gateway, collector } = specs;
  refuseForm('pod', specs, without);
  const pod = podOf('confined', [agent, ...(gateway === undefined ? [] : [gateway])].map(withProof), place);
  const collecting = podOf('confined', [withProof(collector)], place);
  return [gateway === undefined ? closedPolicy(agent) : outwardPolicy(agent), closedPolicy(collector), pod, collecting];
}

/**
 * A pod for each container, with a NetworkPolicy that leaves the agent one port of the gateway. In the order of their
 * start: the agent's pod is made when the gateway is ready, with its address and word in place of those of LATER_GATEWAY.
 *
 * @throws {RunClaudeError} RENDER_LOSS for a layer that is lost and not named in `without`
 */
export function renderOwnPods(
  specs: SessionSpecs,
  place: PodPlace,
  { without }: RenderOptions,
): readonly KubernetesObject[] {
  const { agent, gateway, collector } = specs;
  refuseForm('pods', specs, without);
  const collecting = podOf('own', [withTries(collector)], place);
  const joined = [...place.sockets.values()].reduce(
    (spec, directory) => overTcp(spec, { directory, isShared: false }, LATER_GATEWAY),
    agent,
  );
  const agentWith = gateway === undefined ? withTries(agent) : withTries(joined, LATER_GATEWAY);
  const agentPod = podOf('own', [agentWith], place);
  if (gateway === undefined) return [closedPolicy(agent), closedPolicy(collector), agentPod, collecting];
  return [
    ...pairPolicies(agent, gateway),
    closedPolicy(collector),
    podOf('own', [withProof(gateway)], place),
    agentPod,
    collecting,
  ];
}

/** What a session may have next to agent, gateway and collector. */
export type PlannedParts = Pick<Plan, 'policy' | 'also'>;

/** A plan without what run-claude itself makes or serves while a session runs, which no form renders. */
export function withoutParts<P extends PlannedParts>(plan: P): P {
  const { policy } = plan;
  return {
    ...plan,
    policy: {
      ...policy,
      environment: policy.environment && { ...policy.environment, setup: undefined },
      services: undefined,
      mcpPrograms: undefined,
      caches: undefined,
      ports: undefined,
      also: undefined,
    },
    also: undefined,
  };
}
