import { RunClaudeError, usageError } from '../errors.ts';
import { RENDERED_LAYERS } from '../render/layers.ts';
import type { Policy } from '../types/policy.ts';
import { type ClusterTarget, clusterText, parseClusterTarget } from './target.ts';

/** Layers that a pod of the RuntimeClass lacks, whatever the session is; the other rows are of options that are refused. */
const LOST = RENDERED_LAYERS.filter(
  ({ lost, isPlanned, appliesTo }) => lost?.pod !== undefined && isPlanned === undefined && appliesTo === undefined,
);

/**
 * Refuses the layers that a pod does not have, apart from those that the user named.
 *
 * @throws {RunClaudeError} RENDER_LOSS, which names each; USAGE for a name that is not a layer
 */
export function refuseLostInPods(accepted: readonly string[]): void {
  const names = LOST.map(({ name }) => name);
  const unknown = accepted.find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw usageError(`'${unknown}' is not a layer that a pod may lack`, `Layers: ${names.join(', ')}.`);
  const refused = LOST.filter(({ name }) => !accepted.includes(name));
  if (refused.length === 0) return;
  const lines = refused.map(({ name, lost }) => `\n  ${name}: ${lost?.pod}`);
  throw new RunClaudeError('RENDER_LOSS', `layers of the session would be lost:${lines.join('')}`, {
    hint: `To do without them: ${refused.map(({ name }) => `--without-layer ${name}`).join(' ')}`,
  });
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
export function refusedInPod(what: string, target: ClusterTarget): RunClaudeError {
  return usageError(`--on ${clusterText(target)} does not carry ${what}`, 'Run it on an engine: leave --on out.');
}
