import { containerBody } from '../engine/body.ts';
import { withProof } from '../engine/hardening/proof.ts';
import type { ContainerSpec } from '../types/engine.ts';
import { refuseLosses } from './losses.ts';
import { type OciConfig, type OciPlace, ociConfig } from './oci-config.ts';
import { type Pod, type PodPlace, podOf } from './pod.ts';

/** The containers of a session. Each role is a container of its own in every target. */
export interface SessionSpecs {
  readonly agent: ContainerSpec;
  /** Undefined with `--network none`. */
  readonly gateway?: ContainerSpec | undefined;
  readonly collector: ContainerSpec;
}

export interface RenderOptions {
  /** Layers that the user does without, by name. */
  readonly without: readonly string[];
}

const rolesOf = ({ agent, gateway, collector }: SessionSpecs): ContainerSpec[] => [
  agent,
  ...(gateway === undefined ? [] : [gateway]),
  collector,
];

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
  refuseLosses('oci', all, without);
  return Object.fromEntries(all.map((spec) => [spec.role, ociConfig(spec, place(spec))]));
}

/**
 * Two pods: agent and gateway, which share a directory of sockets, and the collector, which starts after the agent's end.
 *
 * @throws {RunClaudeError} RENDER_LOSS for a layer that is lost and not named in `without`
 */
export function renderPods(specs: SessionSpecs, place: PodPlace, { without }: RenderOptions): readonly Pod[] {
  const { agent, gateway, collector } = specs;
  const beside = [agent, ...(gateway === undefined ? [] : [gateway])].map(withProof);
  const after = [withProof(collector)];
  refuseLosses('pod', beside, without);
  refuseLosses('pod', after, without);
  return [podOf(agent.name, beside, place), podOf(collector.name, after, place)];
}
