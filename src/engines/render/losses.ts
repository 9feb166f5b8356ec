import { RunClaudeError, usageError } from '../../core/errors.ts';
import type { ContainerSpec } from '../../core/types/engine.ts';
import {
  type LosingSpec,
  type PlannedParts,
  RENDERED_LAYERS,
  type RenderedLayer,
  type RenderTarget,
} from './layers.ts';

/** The layers of a container that a target does not carry. */
export function lossesOf(target: RenderTarget, spec: LosingSpec): readonly RenderedLayer[] {
  return RENDERED_LAYERS.filter(
    ({ lost, appliesTo, isPlanned }) =>
      lost?.[target] !== undefined && isPlanned === undefined && (appliesTo === undefined || appliesTo(spec)),
  );
}

/** The parts of a plan beside its containers that a target does not carry. */
export function lostParts(target: RenderTarget, plan: PlannedParts): readonly RenderedLayer[] {
  return RENDERED_LAYERS.filter(({ lost, isPlanned }) => lost?.[target] !== undefined && isPlanned?.(plan) === true);
}

/** What is rendered at once. */
export interface RenderedSession {
  readonly specs: readonly ContainerSpec[];
  /** Of the session that has them. */
  readonly plan: PlannedParts;
}

/**
 * Refuses what a target loses of these containers and of their session, apart from the layers that the user named.
 *
 * @throws {RunClaudeError} RENDER_LOSS, which names each lost layer; USAGE for a name that is not a layer
 */
export function refuseLosses(
  target: RenderTarget,
  { specs, plan }: RenderedSession,
  accepted: readonly string[],
): void {
  const unknown = accepted.find((name) => !RENDERED_LAYERS.some((layer) => layer.name === name));
  if (unknown !== undefined)
    throw usageError(`'${unknown}' is not a layer`, `Layers: ${RENDERED_LAYERS.map(({ name }) => name).join(', ')}.`);
  const all = [...specs.flatMap((spec) => lossesOf(target, spec)), ...lostParts(target, plan)];
  const lost = new Map(all.map((layer) => [layer.name, layer]));
  refuseUnaccepted(
    [...lost.values()].map((layer) => ({ name: layer.name, why: layer.lost?.[target] ?? '' })),
    accepted,
  );
}

/**
 * Refuses the lost layers that the user did not name.
 *
 * @throws {RunClaudeError} RENDER_LOSS, which names each
 */
export function refuseUnaccepted(
  lost: readonly { readonly name: string; readonly why: string }[],
  accepted: readonly string[],
): void {
  const refused = lost.filter(({ name }) => !accepted.includes(name));
  if (refused.length === 0) return;
  const lines = refused.map(({ name, why }) => `\n  ${name}: ${why}`);
  throw new RunClaudeError('RENDER_LOSS', `layers of the session would be lost:${lines.join('')}`, {
    hint: `To do without them: ${refused.map(({ name }) => `--without-layer ${name}`).join(' ')}`,
  });
}

/**
 * The words of a container whose init does not prove what the target loses: init would refuse to start. Everything else
 * is still proved.
 */
export function provableArgv(target: RenderTarget, spec: ContainerSpec): readonly string[] {
  const [init, option, proof, ...rest] = spec.argv;
  if (init === undefined || option !== '--prove' || proof === undefined) return spec.argv;
  const unprovable = lossesOf(target, spec).flatMap((layer) => layer.proof ?? []);
  const lines = proof.split('\n').filter((line) => !unprovable.some((start) => line.startsWith(start)));
  return [init, option, lines.join('\n'), ...rest];
}
