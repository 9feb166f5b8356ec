import { usageError } from '../../core/errors.ts';

/** What `--on k8s:CONTEXT` names. */
export interface ClusterTarget {
  /** A context of the user's kubeconfig. */
  readonly context: string;
}

/** Of a value of `--on` that names a cluster. */
const CLUSTER_PREFIX = 'k8s:';
/** Clouds put slashes, colons and at signs into the names of contexts. */
const CONTEXT = /^[A-Za-z0-9][A-Za-z0-9._:@/-]{0,252}$/;

/**
 * What a value of `--on` names; undefined for one that does not begin with `k8s:`. Pure.
 *
 * @throws {RunClaudeError} USAGE for text that is not the name of a context
 */
export function parseClusterTarget(on: string): ClusterTarget | undefined {
  if (!on.startsWith(CLUSTER_PREFIX)) return undefined;
  const context = on.slice(CLUSTER_PREFIX.length);
  if (!CONTEXT.test(context))
    throw usageError(`--on: '${context}' is not the name of a context`, 'Write: --on k8s:CONTEXT');
  return { context };
}

/** A target as the user writes it. */
export function clusterText({ context }: ClusterTarget): string {
  return `${CLUSTER_PREFIX}${context}`;
}
