import type { RequestOptions } from 'node:https';
import { RunClaudeError, usageError } from '../../core/errors.ts';
import { printable } from './printable.ts';
import type { ClusterTarget } from './target.ts';

/** How to reach the API server of a context. */
export interface ClusterAccess {
  /** `https://HOST[:PORT][/PATH]` */
  readonly server: string;
  /** Certificates, headers and agent for one request: a plugin's token may be a new one each time. */
  options(): Promise<RequestOptions>;
}

/** The client's own context, for a server on this machine without TLS, where it finds no file. */
const INVENTED = 'loaded-context';

/**
 * A context of the user's kubeconfig, read as kubectl does: `KUBECONFIG`, otherwise `~/.kube/config`. A plugin that the file
 * names runs on this machine.
 *
 * @throws {RunClaudeError} USAGE for a context that is not there, and for a server whose certificate nobody checks
 */
export async function openAccess({ context }: ClusterTarget): Promise<ClusterAccess> {
  // Two megabytes of models: only a session on a cluster loads them.
  const { KubeConfig } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  try {
    config.loadFromDefault();
  } catch (error) {
    throw usageError(`the kubeconfig cannot be read: ${printable((error as Error).message)}`);
  }
  const names = config.getContexts().flatMap(({ name }) => (name === INVENTED ? [] : [name]));
  if (names.length === 0)
    throw usageError('there is no kubeconfig with a context', 'Name a file with KUBECONFIG, or write ~/.kube/config.');
  if (!names.includes(context))
    throw usageError(
      `the kubeconfig has no context ${context}`,
      `Contexts: ${printable(names.join(', '))}. KUBECONFIG names another file.`,
    );
  config.setCurrentContext(context);
  const cluster = config.getCurrentCluster();
  if (cluster === null || !cluster.server.startsWith('https://'))
    throw usageError(`context ${context} has no server with https`, 'The credential crosses this connection.');
  if (cluster.skipTLSVerify)
    throw usageError(
      `context ${context} does not check the server's certificate`,
      'The credential crosses this connection: replace insecure-skip-tls-verify by certificate-authority.',
    );
  return {
    server: cluster.server.replace(/\/+$/, ''),
    async options() {
      const options: RequestOptions = {};
      try {
        await config.applyToHTTPSOptions(options);
      } catch (error) {
        throw new RunClaudeError(
          'CLUSTER_LOGIN',
          `the login of context ${context} failed: ${printable((error as Error).message)}`,
          { hint: `Try: kubectl --context ${context} get pods` },
        );
      }
      return options;
    },
  };
}
