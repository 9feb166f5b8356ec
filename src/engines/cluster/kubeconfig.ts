import type { RequestOptions } from 'node:https';
import { z } from 'zod';
import { RunClaudeError, usageError } from '../../core/errors.ts';
import { missingProgramHint, outputOfProgram } from '../../core/host/programs/start-program.ts';
import { printable } from '../remote/printable.ts';
import { type ClusterUser, openLogin, userSchema } from './login.ts';
import type { ClusterTarget } from './target.ts';

/** How to reach the API server of a context. */
export interface ClusterAccess {
  /** `https://HOST[:PORT][/PATH]` */
  readonly server: string;
  /** Certificates and headers for one request: a plugin's token may be a new one each time. */
  options(): Promise<RequestOptions>;
}

const KUBECTL_MS = 30_000;
const MAX_KUBECONFIG_BYTES = 16 * 1024 * 1024;

const clusterSchema = z.object({
  server: z.string().default(''),
  'certificate-authority-data': z.string().optional(),
  'insecure-skip-tls-verify': z.boolean().optional(),
  'tls-server-name': z.string().optional(),
  'proxy-url': z.string().optional(),
});

/** One context as `kubectl config view --minify --flatten` prints it: files are in it, as base64. */
const contextSchema = z.object({
  clusters: z.array(z.object({ cluster: clusterSchema })).length(1),
  users: z
    .array(z.object({ user: userSchema }))
    .max(1)
    .nullish(),
});

/** The cluster and the user of a context. */
export interface ClusterContext {
  readonly cluster: z.infer<typeof clusterSchema>;
  readonly user: ClusterUser;
}

/**
 * A context of the user's kubeconfig, read by kubectl: `KUBECONFIG`, otherwise `~/.kube/config`. A plugin that the file
 * names runs on this machine.
 *
 * @throws {RunClaudeError} USAGE for a context that is not there, and for a server whose certificate nobody checks
 */
export async function openAccess({ context }: ClusterTarget): Promise<ClusterAccess> {
  const names = (await kubectl(['config', 'get-contexts', '-o', 'name'])).split('\n').filter((name) => name !== '');
  if (names.length === 0)
    throw usageError('there is no kubeconfig with a context', 'Name a file with KUBECONFIG, or write ~/.kube/config.');
  if (!names.includes(context))
    throw usageError(
      `the kubeconfig has no context ${context}`,
      `Contexts: ${printable(names.join(', '))}. KUBECONFIG names another file.`,
    );
  const view = ['config', 'view', '--raw', '--minify', '--flatten', '--output', 'json', '--context', context];
  return accessOf(parseContext(await kubectl(view), context), context);
}

/** @throws {RunClaudeError} USAGE for text that names no cluster, or another kind of login */
export function parseContext(json: string, context: string): ClusterContext {
  const parsed = contextSchema.safeParse(JSON.parse(json));
  if (!parsed.success)
    throw usageError(`context ${context} cannot be used: ${printable(parsed.error.issues[0]?.message)}`);
  const { clusters, users } = parsed.data;
  return { cluster: clusters[0]?.cluster ?? { server: '' }, user: users?.[0]?.user ?? {} };
}

/**
 * The access that a context gives. Nothing is sent yet.
 *
 * @throws {RunClaudeError} USAGE for a server that is not reached directly by https with a checked certificate
 */
export function accessOf({ cluster, user }: ClusterContext, context: string): ClusterAccess {
  if (!cluster.server.startsWith('https://'))
    throw usageError(`context ${context} has no server with https`, 'The credential crosses this connection.');
  if (cluster['insecure-skip-tls-verify'] === true)
    throw usageError(
      `context ${context} does not check the server's certificate`,
      'The credential crosses this connection: replace insecure-skip-tls-verify by certificate-authority.',
    );
  if (cluster['proxy-url'] !== undefined)
    throw usageError(`context ${context} has a proxy-url`, 'run-claude connects to the API server directly.');
  const authority = cluster['certificate-authority-data'];
  const name = cluster['tls-server-name'];
  const own: RequestOptions = {
    ...(authority !== undefined && { ca: Buffer.from(authority, 'base64') }),
    ...(name !== undefined && { servername: name }),
  };
  const login = openLogin(user, cluster);
  return {
    server: cluster.server.replace(/\/+$/, ''),
    async options() {
      try {
        return { ...own, ...(await login()) };
      } catch (error) {
        throw new RunClaudeError(
          'CLUSTER_LOGIN',
          `the login of context ${context} failed: ${printable((error as Error).message)}`,
          { hint: `Try: kubectl --context ${context} get pods` },
        );
      }
    },
  };
}

/** What kubectl prints. It reads the kubeconfig, and asks no server. */
async function kubectl(words: readonly string[]): Promise<string> {
  try {
    const limits = { timeout: KUBECTL_MS, maxBuffer: MAX_KUBECONFIG_BYTES };
    const { stdout } = await outputOfProgram('kubectl', [...words], limits);
    return stdout;
  } catch (error) {
    const { code, stderr, message } = error as NodeJS.ErrnoException & { readonly stderr?: string };
    if (code === 'ENOENT')
      throw usageError('kubectl, which reads the kubeconfig, does not start', missingProgramHint('kubectl'));
    throw usageError(`the kubeconfig cannot be read: ${printable(stderr?.trim() || message)}`);
  }
}
