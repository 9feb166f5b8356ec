import { type RunClaudeError, usageError } from '../../core/errors.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { Policy } from '../../core/types/policy.ts';
import { refuseUnaccepted } from '../render/losses.ts';
import { type JobTarget, targetText } from './target.ts';

/** A layer that a job may lack, by its name on the command line. */
export type JobLayer = 'gateway-network' | 'memory' | 'swap';

const LOST: Readonly<Record<JobLayer, string>> = {
  'gateway-network': "the gateway shares the node's network namespace: its rules hold, a namespace of its own does not",
  memory: 'no control group of the job holds its memory to the limit',
  swap: 'no control group of the job keeps it from swap',
};

export const JOB_LAYERS = Object.keys(LOST) as readonly JobLayer[];

/**
 * Refuses the layers that a job does not have, apart from those that the user named.
 *
 * @throws {RunClaudeError} RENDER_LOSS, which names each; USAGE for a name that is not a layer
 */
export function refuseLostLayers(lost: readonly JobLayer[], accepted: readonly string[]): void {
  const unknown = accepted.find((name) => !(JOB_LAYERS as readonly string[]).includes(name));
  if (unknown !== undefined)
    throw usageError(`'${unknown}' is not a layer that a job may lack`, `Layers: ${JOB_LAYERS.join(', ')}.`);
  refuseUnaccepted(
    lost.map((name) => ({ name, why: LOST[name] })),
    accepted,
  );
}

/** What of a policy is not carried to a job; each word names an option or a table of the configuration. */
const NOT_CARRIED: readonly (readonly [words: string, isAsked: (policy: Policy) => boolean])[] = [
  ['bind mode', ({ mode }) => mode === 'bind'],
  ['--network open', ({ network }) => network === 'open'],
  ['--credentials file', ({ credentials }) => credentials === 'file'],
  ['--allow-local', ({ allowLocal = [] }) => allowLocal.length > 0],
  ['--port', ({ ports = [] }) => ports.length > 0],
  ['--gpu', ({ gpu }) => gpu === true],
  ['--runtime', ({ runtime }) => runtime !== undefined],
  ['--also', ({ also = [] }) => also.length > 0],
  ['--cache', ({ caches = [] }) => caches.length > 0],
  ['--isolate-claude-data', ({ isolateClaudeData }) => isolateClaudeData],
  ['[[service]]', ({ services = [] }) => services.length > 0],
  ['[[mcp]] with command', ({ mcpPrograms = [] }) => mcpPrograms.length > 0],
  ['[environment] setup', ({ environment }) => environment?.setup !== undefined],
];

/**
 * Refuses a session that a job cannot be.
 *
 * @throws {RunClaudeError} USAGE, which names every option that is not carried
 */
export function refuseNotCarried(policy: Policy, on: string): void {
  const asked = NOT_CARRIED.flatMap(([words, isAsked]) => (isAsked(policy) ? [words] : []));
  if (asked.length === 0) return;
  throw usageError(
    `--on ${on} does not carry: ${asked.join(', ')}`,
    'Leave them out, or run the session on an engine.',
  );
}

/**
 * Refuses a session in a job, or on a cluster, that needs a user while it runs.
 *
 * @throws {RunClaudeError} USAGE
 */
export function refuseAttended({ policy: { on }, tty, program }: Pick<Plan, 'policy' | 'tty' | 'program'>): void {
  if (on === undefined) return;
  const what = program.kind === 'kept' ? 'a session without an agent' : tty ? 'a session on a terminal' : undefined;
  if (what !== undefined)
    throw usageError(`--on ${on} does not carry ${what}`, 'Give it a task: run-claude --on ... -p, exec or batch.');
}

/** What a job's engine does not have, as an error for the user. */
export function refusedInJob(what: string, target: JobTarget): RunClaudeError {
  return usageError(`--on ${targetText(target)} does not carry ${what}`, 'Run it on an engine: leave --on out.');
}
