import { readFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import path from 'node:path';
import { z } from 'zod';
import { missingProgramHint, outputOfProgram } from '../../core/host/programs/start-program.ts';
import { jsonIn } from '../../core/text/json-in.ts';

/** A user of a kubeconfig: the logins that are supported. */
export const userSchema = z.object({
  token: z.string().optional(),
  tokenFile: z.string().optional(),
  'client-certificate-data': z.string().optional(),
  'client-key-data': z.string().optional(),
  exec: z
    .object({
      apiVersion: z.string(),
      command: z.string(),
      args: z.array(z.string()).nullish(),
      env: z.array(z.object({ name: z.string(), value: z.string() })).nullish(),
      provideClusterInfo: z.boolean().optional(),
    })
    .optional(),
  username: z.undefined({ error: 'a login with username and password is not supported' }).optional(),
  'auth-provider': z
    .undefined({ error: 'a login by auth-provider is not supported: Kubernetes removed it' })
    .optional(),
  as: z.undefined({ error: 'acting as another user (as) is not supported' }).optional(),
});

export type ClusterUser = Omit<z.infer<typeof userSchema>, 'username' | 'auth-provider' | 'as'>;

/** What a plugin gets to know of the cluster. */
type ClusterInfo = Readonly<Record<string, unknown>> & { readonly server: string };

/** A plugin may open a browser and wait for the user. */
const PLUGIN_MS = 5 * 60_000;
const MAX_CREDENTIAL_BYTES = 1024 * 1024;
/** A token is not used in its last seconds: clocks differ. */
const EARLY_MS = 30_000;

/** https://kubernetes.io/docs/reference/config-api/client-authentication.v1 */
const credentialSchema = z.object({
  kind: z.literal('ExecCredential'),
  status: z.object({
    token: z.string().optional(),
    clientCertificateData: z.string().optional(),
    clientKeyData: z.string().optional(),
    expirationTimestamp: z.string().optional(),
  }),
});
type Credential = z.infer<typeof credentialSchema>['status'];

/**
 * The options of a request with the login of a user, anew for each request: a plugin's credential is asked for again when
 * it expires.
 *
 * @throws {Error} from the returned function, for a file that cannot be read and a plugin that gives no credential
 */
export function openLogin(user: ClusterUser, cluster: ClusterInfo): () => Promise<RequestOptions> {
  let kept: Credential | undefined;
  return async () => {
    if (user.exec !== undefined) {
      if (kept === undefined || isExpired(kept)) kept = await runPlugin(user.exec, cluster);
      return {
        ...bearer(kept.token),
        ...(kept.clientCertificateData !== undefined && { cert: kept.clientCertificateData }),
        ...(kept.clientKeyData !== undefined && { key: kept.clientKeyData }),
      };
    }
    const { tokenFile, 'client-certificate-data': certificate, 'client-key-data': key } = user;
    // A token in a file has precedence, as for kubectl: it is replaced there from time to time.
    const token = tokenFile === undefined ? user.token : (await readFile(tokenFile, 'utf8')).trim();
    return {
      ...bearer(token),
      ...(certificate !== undefined && { cert: Buffer.from(certificate, 'base64') }),
      ...(key !== undefined && { key: Buffer.from(key, 'base64') }),
    };
  };
}

const bearer = (token: string | undefined): RequestOptions =>
  token === undefined ? {} : { headers: { Authorization: `Bearer ${token}` } };

function isExpired({ expirationTimestamp }: Credential): boolean {
  return expirationTimestamp !== undefined && !(Date.parse(expirationTimestamp) - EARLY_MS > Date.now());
}

async function runPlugin(exec: NonNullable<ClusterUser['exec']>, cluster: ClusterInfo): Promise<Credential> {
  const { apiVersion, command, args, env, provideClusterInfo } = exec;
  if (command.includes('/') && !path.isAbsolute(command))
    throw new Error(`the path of the plugin ${command} is relative: write an absolute one`);
  const spec = { interactive: false, ...(provideClusterInfo === true && { cluster: clusterInfo(cluster) }) };
  const info = JSON.stringify({ kind: 'ExecCredential', apiVersion, spec });
  const extra = Object.fromEntries((env ?? []).map(({ name, value }) => [name, value]));
  const output = await outputOfProgram(command, args ?? [], {
    env: { ...process.env, ...extra, KUBERNETES_EXEC_INFO: info },
    timeout: PLUGIN_MS,
    maxBuffer: MAX_CREDENTIAL_BYTES,
  }).catch((error: NodeJS.ErrnoException & { readonly stderr?: string }) => {
    if (error.code === 'ENOENT')
      throw new Error(`the plugin ${command} does not start. ${missingProgramHint(command)}`);
    throw new Error(`the plugin ${command} failed: ${error.stderr?.trim() || error.message}`);
  });
  const parsed = credentialSchema.safeParse(jsonIn(output.stdout));
  if (!parsed.success) throw new Error(`the plugin ${command} printed no ExecCredential`);
  return parsed.data.status;
}

/** As client-go sends it: the names of the fields are those of the kubeconfig, and `config` is left out. */
function clusterInfo(cluster: ClusterInfo): object {
  return Object.fromEntries(Object.entries(cluster).filter(([, value]) => value !== undefined));
}
