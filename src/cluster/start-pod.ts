import { randomBytes } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { refuseWeaker } from '../engine/container.ts';
import { isProved, weakerIn, withProof } from '../engine/hardening/proof.ts';
import { splitOutput } from '../engine/streams.ts';
import { RunClaudeError } from '../errors.ts';
import type { Container, ContainerSpec } from '../types/engine.ts';
import { type AttachedStreams, attachPod } from './attach.ts';
import { END_OF_INPUT, framesOf, OPEN, SIGN, signalLine } from './gate.ts';
import { refusedInPod } from './losses.ts';
import type { ClusterEngineOptions } from './options.ts';
import { podName, type SessionPod, sessionPod } from './pod.ts';
import { nodeOf, type PodState, podState } from './pod-status.ts';
import { type SessionClaim, untilGone } from './session-claim.ts';

/** The node of a session's pods, once the first of them has one. */
export interface NodeOfSession {
  first?: Promise<string | undefined>;
}

interface StartPodParts extends ClusterEngineOptions {
  readonly claim: SessionClaim;
  readonly node: NodeOfSession;
}

const POLL_MS = 300;
const MAX_POLL_MS = 2000;
const SIGN_MS = 5000;
/** From a node to a running container: the image is pulled in between. */
const START_LIMIT_MS = 15 * 60_000;
/** Between the end of a container's streams and its status. */
const STATUS_LIMIT_MS = 30_000;
/** From a signal to the end; then the pod is deleted. */
const KILL_LIMIT_MS = 5000;
const KILLED = 137;

const COLLECT = 'What the agent wrote is in the claim. The next command for the session collects it: run-claude diff';

/**
 * Makes the pod of a container and attaches to it. Its program waits for start().
 *
 * @throws {RunClaudeError} IMAGE_PULL_FAILED, POD_REFUSED, POD_ENDED, POD_STUCK; the reason of the command's signal
 */
export async function startPod(spec: ContainerSpec, parts: StartPodParts): Promise<Container> {
  const { api, access, claim } = parts;
  await claim.ready(!isBeside(spec));
  const volumes = await claim.volumes();
  for (const one of spec.mounts)
    if (one.kind === 'volume' && !volumes.has(one.volume))
      throw new RunClaudeError('WORKSPACE_GONE', `the volume ${one.volume} no longer exists in the cluster`);
  const name = podName(spec, randomBytes(4).toString('hex'));
  try {
    const node = await nodeFor(parts, async (chosen) => {
      const options = { ...parts, name, claim: claim.name, volumes, removed: claim.removed(), node: chosen };
      await api.create('pods', sessionPod(spec, options) satisfies SessionPod);
      return untilScheduled(name, parts);
    });
    await untilRunning(name, node, parts);
    const streams = await attachPod(access, api, name, spec.role);
    return containerOf(spec, name, streams, parts);
  } catch (error) {
    await api.remove('pods', name, 1).catch(() => undefined);
    throw error;
  }
}

/** A collector of a command beside the one that runs the session. The session's pods are left as they are. */
const isBeside = ({ role, name }: ContainerSpec): boolean => role === 'collector' && /-watch-\d+$/.test(name);

/** The first pod of a session chooses the node: the claim is on it from then on. */
async function nodeFor(
  { node }: StartPodParts,
  make: (node: string | undefined) => Promise<string | undefined>,
): Promise<string | undefined> {
  if (node.first !== undefined) {
    const chosen = await node.first.catch(() => undefined);
    return make(chosen);
  }
  node.first = make(undefined);
  node.first.catch(() => {
    delete node.first;
  });
  return node.first;
}

/** Polls the pod's state until `isDone`. Reports why it waits. */
async function watchPod<T>(name: string, parts: StartPodParts, take: (state: PodState, node: string | undefined) => T) {
  const { api, signal, tell } = parts;
  let told = '';
  for (let pause = POLL_MS; ; pause = Math.min(pause * 1.2, MAX_POLL_MS)) {
    signal?.throwIfAborted();
    const found = await api.get('pods', name);
    if (found === undefined) throw new RunClaudeError('POD_ENDED', `pod ${name} was deleted before it ran`);
    const state = podState(found);
    const result = take(state, nodeOf(found));
    if (result !== undefined) return result;
    const isOrdinary = state.kind !== 'waiting' || /^(ContainerCreating|PodInitializing)?$/.test(state.why);
    if (!isOrdinary && state.why !== told) {
      told = state.why;
      tell({ kind: 'message', level: 'info', text: `Waiting for the cluster: ${state.why}` });
    }
    await sleep(pause, undefined, signal === undefined ? {} : { signal }).catch(() => signal?.throwIfAborted());
  }
}

function untilScheduled(name: string, parts: StartPodParts): Promise<string | undefined> {
  return watchPod(name, parts, (state, node) => {
    refuseStuck(name, state, parts);
    return node;
  });
}

async function untilRunning(name: string, node: string | undefined, parts: StartPodParts): Promise<void> {
  const since = Date.now();
  await watchPod(name, parts, (state) => {
    refuseStuck(name, state, parts);
    if (state.kind === 'running') {
      requireImage(state.imageId, name, parts);
      return true;
    }
    if (Date.now() - since > START_LIMIT_MS)
      throw new RunClaudeError('POD_STUCK', `pod ${name} does not start on node ${node ?? ''}`, {
        hint: `Look with: kubectl -n ${parts.api.namespace} describe pod ${name}`,
      });
    return undefined;
  });
}

function refuseStuck(name: string, state: PodState, { image, api }: StartPodParts): void {
  if (state.kind === 'ended')
    throw new RunClaudeError('POD_ENDED', `pod ${name} ended before its program started: ${state.why || 'no reason'}`);
  if (state.kind !== 'stuck') return;
  if (/Image/.test(state.reason))
    throw new RunClaudeError('IMAGE_PULL_FAILED', `the node cannot pull ${image}: ${state.why}`, {
      hint: 'Push the image of run-claude build there, and name it in [kubernetes] by its digest.',
    });
  throw new RunClaudeError('POD_REFUSED', `the node does not start pod ${name}: ${state.why}`, {
    hint: `deploy/kubernetes/README.md has what a node needs. Look with: kubectl -n ${api.namespace} describe pod ${name}`,
  });
}

/** A mistake, not an attack, shows here: a node can say what it likes. */
function requireImage(imageId: string, name: string, { image }: StartPodParts): void {
  const digest = /@sha256:[0-9a-f]{64}$/;
  const [wanted] = digest.exec(image) ?? [];
  const [has] = digest.exec(imageId) ?? [];
  if (has === undefined || has === wanted) return;
  throw new RunClaudeError('POD_REFUSED', `pod ${name} runs another image than ${image}: ${imageId}`);
}

function containerOf(spec: ContainerSpec, name: string, streams: AttachedStreams, parts: StartPodParts): Container {
  const { api, target } = parts;
  const proved = isProved(withProof(spec));
  const output = splitOutput(streams.stdout, { tty: true, headLines: proved ? 1 : 0 });
  const stdin = spec.stdin === 'stream' ? new PassThrough() : undefined;
  let last: Promise<void> = Promise.resolve();
  /** Whole frames, one after the other. */
  const send = (bytes: Buffer | string): Promise<void> => {
    const next = last.then(() => streams.send(bytes));
    last = next.catch(() => undefined);
    return next;
  };
  let signs: NodeJS.Timeout | undefined;
  let isEnded = false;
  let isKilled = false;
  void streams.ended.then(() => {
    isEnded = true;
    clearInterval(signs);
  });
  const passInput = async (from: PassThrough): Promise<void> => {
    try {
      for await (const chunk of from) for (const frame of framesOf(chunk as Buffer)) await send(frame);
      await send(END_OF_INPUT);
    } catch {
      // The connection has ended, and wait() says why; or the input was cut, and whoever cut it knows.
      from.destroy();
    }
  };
  const remove = async (): Promise<void> => {
    clearInterval(signs);
    await api.remove('pods', name, 1);
    streams.close();
    // A pod that has ended writes no more: nothing has to wait for the cluster to forget it.
    if (!isEnded) await untilGone(api, name);
  };
  let markStarted: () => void = () => undefined;
  const started = new Promise<void>((resolve) => {
    markStarted = resolve;
  });
  const wait = async (): Promise<number> => {
    await started;
    const said = await streams.ended;
    for (const since = Date.now(); ; await sleep(POLL_MS)) {
      const found = await api.get('pods', name);
      if (found === undefined) {
        if (isKilled) return KILLED;
        throw new RunClaudeError('POD_ENDED', `pod ${name} was deleted`, { hint: COLLECT });
      }
      const state = podState(found);
      if (state.kind === 'ended' && state.status !== undefined) return state.status;
      if (state.kind === 'ended')
        throw new RunClaudeError('POD_ENDED', `pod ${name} ended: ${state.why || 'the cluster gives no reason'}`, {
          hint: COLLECT,
        });
      if (Date.now() - since > STATUS_LIMIT_MS)
        throw new RunClaudeError(
          'POD_LOST',
          `the connection to pod ${name} was lost${said === '' ? '' : `: ${said}`}`,
          { hint: `The pod ends in ${parts.patienceSeconds} seconds. ${COLLECT}` },
        );
    }
  };
  return {
    id: name,
    name: spec.name,
    stdout: output.stdout,
    stderr: streams.stderr,
    stdin,
    async start() {
      await send(OPEN);
      signs = setInterval(() => void send(SIGN).catch(() => undefined), SIGN_MS);
      signs.unref();
      if (stdin === undefined) void send(END_OF_INPUT).catch(() => undefined);
      else void passInput(stdin);
      markStarted();
      if (!proved) return;
      const head = await inTime(output.head, name, parts);
      if (head === '')
        throw await wait().then(
          (status) => noProof(name, status),
          (error: Error) => error,
        );
      refuseWeaker(weakerIn(head), spec.name);
    },
    wait,
    async kill(signal) {
      const line = signalLine(signal);
      if (isEnded || line === undefined) return;
      // It waits behind input that the program does not read: a pod that cannot take it is deleted below.
      const sent = send(line).catch(() => undefined);
      if (!line.includes('KILL'))
        return void (await Promise.race([sent, sleep(KILL_LIMIT_MS, undefined, { ref: false })]));
      isKilled = true;
      await Promise.race([streams.ended, sleep(KILL_LIMIT_MS, undefined, { ref: false })]);
      if (isEnded) return;
      await api.remove('pods', name, 1);
      await untilGone(api, name);
      streams.close();
    },
    pause: async () => {
      throw refusedInPod('a pause of the agent', target);
    },
    unpause: async () => undefined,
    resize: async () => undefined,
    exec: async () => {
      throw refusedInPod('a command in a container', target);
    },
    detach: () => streams.close(),
    remove,
  };
}

/** @throws {RunClaudeError} POD_STUCK for a container that says nothing; its pod is deleted then */
async function inTime(head: Promise<string>, name: string, { api, proofSeconds }: StartPodParts): Promise<string> {
  const stopped = new AbortController();
  const late = sleep(proofSeconds * 1000, undefined, { signal: stopped.signal }).catch(() => undefined);
  const said = await Promise.race([head, late]);
  stopped.abort();
  if (said !== undefined) return said;
  await api.remove('pods', name, 1).catch(() => undefined);
  throw new RunClaudeError('POD_STUCK', `pod ${name} does not prove its layers within ${proofSeconds} seconds`, {
    hint: 'deploy/kubernetes/README.md has what a node needs.',
  });
}

function noProof(name: string, status: number): RunClaudeError {
  return new RunClaudeError('POD_ENDED', `pod ${name} ended with status ${status} before it proved its layers`);
}
