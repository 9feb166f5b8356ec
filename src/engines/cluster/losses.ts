import { type RunClaudeError, usageError } from '../../core/errors.ts';
import type { Policy } from '../../core/types/policy.ts';
import type { LackedLayer } from '../../core/types/runtime.ts';
import { lossesOf, refuseUnaccepted } from '../render/losses.ts';
import type { ClusterForm } from './options.ts';
import { type ClusterTarget, clusterText, parseClusterTarget } from './target.ts';

/**
 * Refuses the layers that a session's pods do not have, apart from those that the user named. What else the table of layers
 * has is of options that are refused.
 *
 * @throws {RunClaudeError} RENDER_LOSS, which names each; USAGE for a name that is not a layer
 */
export function refuseLostInPods(form: ClusterForm, accepted: readonly string[]): void {
  const lostLayers = lossesOf(form, { network: 'none' });
  const names = lostLayers.map(({ name }) => name);
  const unknown = accepted.find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw usageError(
      `'${unknown}' is not a layer that a pod may lack with form = "${form}"`,
      `Layers: ${names.join(', ')}.`,
    );
  refuseUnaccepted(
    lostLayers.map(({ name, lost }) => ({ name, why: lost?.[form] ?? '' })),
    accepted,
  );
}

/** What of the layers that the user does without a session's pods lack. */
export function acceptedLosses(form: ClusterForm, accepted: readonly string[]): readonly LackedLayer[] {
  const lost = lossesOf(form, { network: 'none' }).filter(({ name }) => accepted.includes(name));
  return lost.map(({ name, probes = [] }) => ({ name, probes }));
}

/** What needs another image than the one of `[kubernetes]`. */
const OF_THE_IMAGE: readonly (readonly [words: string, isAsked: (policy: Policy) => boolean])[] = [
  ['--image', ({ image }) => image !== undefined],
  ['--toolchain', ({ toolchain }) => toolchain],
  ['--claude-version', ({ claudeVersion }) => claudeVersion !== undefined],
  ['[environment] packages', ({ environment }) => (environment?.packages ?? []).length > 0],
];

/**
 * Refuses a session whose image is not the one that the nodes pull.
 *
 * @throws {RunClaudeError} USAGE, which names every option
 */
export function refuseOtherImage(policy: Policy, on: string): void {
  const asked = OF_THE_IMAGE.flatMap(([words, isAsked]) => (isAsked(policy) ? [words] : []));
  if (asked.length === 0) return;
  throw usageError(
    `--on ${on} does not carry: ${asked.join(', ')}`,
    'Nodes run the image of [kubernetes]. Leave the options out, or run the session on an engine.',
  );
}

/**
 * Refuses a session of an agent whose program is a layer over the image: nodes have the image alone.
 *
 * @throws {RunClaudeError} USAGE
 */
export function refuseAgentLayer(
  { on = '' }: Policy,
  agent: { readonly image: object | undefined; readonly title: string },
): void {
  if (agent.image === undefined || parseClusterTarget(on) === undefined) return;
  throw usageError(`--on ${on} does not carry ${agent.title}`, 'Run the session on an engine: leave --on out.');
}

/** What a pod has no form of. */
export function refusedInPod(
  what: string,
  target: ClusterTarget,
  hint = 'Run it on an engine: leave --on out.',
): RunClaudeError {
  return usageError(`--on ${clusterText(target)} does not carry ${what}`, hint);
}
