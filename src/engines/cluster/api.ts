import https from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { RunClaudeError } from '../../core/errors.ts';
import { jsonIn } from '../../core/text/json-in.ts';
import { printable } from '../remote/printable.ts';
import type { ClusterAccess } from './kubeconfig.ts';

/** The parts of an object of Kubernetes that are read. The server may send anything: each value is checked where it is used. */
export interface ClusterObject {
  readonly metadata?: {
    readonly name?: unknown;
    readonly uid?: unknown;
    readonly labels?: Readonly<Record<string, unknown>>;
    readonly annotations?: Readonly<Record<string, unknown>>;
    readonly creationTimestamp?: unknown;
    readonly deletionTimestamp?: unknown;
    readonly resourceVersion?: unknown;
  };
  readonly spec?: { readonly nodeName?: unknown };
  readonly status?: unknown;
}

export type Resource = 'pods' | 'persistentvolumeclaims' | 'networkpolicies';

const GROUPS: Readonly<Record<Resource, string>> = {
  pods: '/api/v1',
  persistentvolumeclaims: '/api/v1',
  networkpolicies: '/apis/networking.k8s.io/v1',
};

/** The API server of one cluster, for one namespace. Every failure is a RunClaudeError. */
export interface ClusterApi {
  readonly server: string;
  readonly namespace: string;
  get(resource: Resource, name: string): Promise<ClusterObject | undefined>;
  list(resource: Resource, selector: string): Promise<readonly ClusterObject[]>;
  /** Throws CLUSTER_REFUSED also where the object exists. */
  create(resource: Resource, object: object): Promise<ClusterObject>;
  /** A JSON merge patch. */
  patch(resource: Resource, name: string, change: object): Promise<ClusterObject>;
  /** No error when it does not exist. `graceSeconds`: of a pod. */
  remove(resource: Resource, name: string, graceSeconds?: number): Promise<void>;
}

const ANSWER_MS = 30_000;
/** Before each further try, in milliseconds. */
const PAUSES_MS = [500, 2000];
/** The server is asked too much, or starts: it did nothing. A gateway before it answers with the others. */
const BUSY: readonly number[] = [429, 502, 503, 504];
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

/** Opens the API of a namespace. Nothing is sent yet. */
export function openClusterApi(access: ClusterAccess, namespace: string): ClusterApi {
  const pathOf = (resource: Resource, name?: string): string =>
    `${GROUPS[resource]}/namespaces/${namespace}/${resource}${name === undefined ? '' : `/${encodeURIComponent(name)}`}`;
  const call = (request: ApiRequest): Promise<ApiAnswer> => callServer(access, request);
  return {
    server: access.server,
    namespace,
    async get(resource, name) {
      const answer = await call({ method: 'GET', path: pathOf(resource, name) });
      if (answer.status === 404) return undefined;
      return objectIn(answer);
    },
    async list(resource, selector) {
      const answer = await call({
        method: 'GET',
        path: `${pathOf(resource)}?labelSelector=${encodeURIComponent(selector)}`,
      });
      const { items } = objectIn(answer) as { readonly items?: unknown };
      return Array.isArray(items) ? items.filter((one) => typeof one === 'object' && one !== null) : [];
    },
    create: async (resource, object) =>
      objectIn(await call({ method: 'POST', path: pathOf(resource), body: JSON.stringify(object) })),
    patch: async (resource, name, change) =>
      objectIn(
        await call({
          method: 'PATCH',
          path: pathOf(resource, name),
          body: JSON.stringify(change),
          type: 'application/merge-patch+json',
        }),
      ),
    async remove(resource, name, graceSeconds) {
      const options = { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Background' };
      const body = JSON.stringify(
        graceSeconds === undefined ? options : { ...options, gracePeriodSeconds: graceSeconds },
      );
      const answer = await call({ method: 'DELETE', path: pathOf(resource, name), body });
      if (answer.status !== 404) objectIn(answer);
    },
  };
}

interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: string;
  readonly type?: string;
}

interface ApiAnswer {
  readonly status: number;
  readonly text: string;
}

/**
 * Requests that change nothing are repeated after a pause: one lost packet, or an API server that restarts, must not end a
 * session.
 */
async function callServer(access: ClusterAccess, request: ApiRequest): Promise<ApiAnswer> {
  for (const pause of request.method === 'GET' ? PAUSES_MS : []) {
    const answer = await send(access, request).catch(failureOf);
    if ('status' in answer && !BUSY.includes(answer.status)) return answer;
    await delay(pause);
  }
  const answer = await send(access, request).catch(failureOf);
  if ('status' in answer) return answer;
  throw new RunClaudeError(
    'CLUSTER_UNREACHABLE',
    `the API server ${printable(access.server)} does not answer: ${printable(answer.failure.message)}`,
    {
      hint: 'Is the cluster up, and the context right? Try: kubectl get --raw /readyz',
      cause: answer.failure,
    },
  );
}

/** @throws a RunClaudeError, which no further try changes. */
function failureOf(error: Error): { readonly failure: Error } {
  if (error instanceof RunClaudeError) throw error;
  return { failure: error };
}

async function send(access: ClusterAccess, { method, path, body, type }: ApiRequest): Promise<ApiAnswer> {
  const { headers = {}, ...options } = await access.options();
  return new Promise((resolve, reject) => {
    const request = https.request(`${access.server}${path}`, {
      ...options,
      method,
      headers: {
        ...(headers as Readonly<Record<string, string>>),
        Accept: 'application/json',
        ...(body === undefined
          ? {}
          : { 'Content-Type': type ?? 'application/json', 'Content-Length': Buffer.byteLength(body) }),
      },
    });
    const timer = setTimeout(
      () => request.destroy(new Error(`no answer within ${ANSWER_MS / 1000} seconds`)),
      ANSWER_MS,
    );
    request.on('close', () => clearTimeout(timer));
    request.on('error', reject);
    request.on('response', (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > MAX_ANSWER_BYTES) request.destroy(new Error('the answer is too long'));
        else chunks.push(chunk);
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }),
      );
      response.on('error', reject);
    });
    request.end(body);
  });
}

/** @throws {RunClaudeError} CLUSTER_REFUSED with the server's own message */
function objectIn({ status, text }: ApiAnswer): ClusterObject {
  const value = jsonIn(text);
  const isObject = typeof value === 'object' && value !== null;
  if (status >= 200 && status < 300 && isObject) return value as ClusterObject;
  const said = isObject ? (value as { readonly message?: unknown }).message : text;
  throw new RunClaudeError('CLUSTER_REFUSED', `the API server refused (${status}): ${printable(said)}`, {
    hint:
      status === 403
        ? 'deploy/kubernetes/user-role.yaml has the rights that a user needs.'
        : 'deploy/kubernetes/README.md has what a cluster needs.',
  });
}
