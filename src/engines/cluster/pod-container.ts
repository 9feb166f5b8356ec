import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { RunClaudeError } from '../../core/errors.ts';
import type { Container, ContainerSpec } from '../../core/types/engine.ts';
import { refuseWeaker } from '../engine/containers/container.ts';
import { splitOutput } from '../engine/containers/streams.ts';
import { isProved, weakerIn, withProof } from '../engine/hardening/proof.ts';
import { printable } from '../remote/printable.ts';
import type { AttachedStreams } from './attach.ts';
import { END_OF_INPUT, framesOf, SIGN, START_PROGRAM, signalLine } from './gate.ts';
import type { ClusterEngineOptions } from './options.ts';
import { podState } from './pod-status.ts';
import { untilGone } from './session-claim.ts';

const POLL_MS = 300;
const SIGN_MS = 5000;
/** Between the end of a container's streams and its status. */
const STATUS_LIMIT_MS = 30_000;
/** From a signal to the end; then the pod is deleted. */
const KILL_LIMIT_MS = 5000;
const KILLED = 137;

const COLLECT = 'What the agent wrote is in the claim. The next command for the session collects it: run-claude diff';

type PodParts = Pick<ClusterEngineOptions, 'api' | 'patienceSeconds' | 'proofSeconds'>;

/** Deletes a pod. No error where it does not exist. */
export async function removePod(name: string, api: ClusterEngineOptions['api']): Promise<void> {
  await api.remove('pods', name, 1);
}

/** A container whose pod runs and is attached to. Its program waits for start(). */
export function containerOf(spec: ContainerSpec, name: string, streams: AttachedStreams, parts: PodParts): Container {
  const { api } = parts;
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
    await removePod(name, api);
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
      await send(START_PROGRAM);
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
      refuseAnswers(weakerIn(head), name);
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
      await removePod(name, api);
      await untilGone(api, name);
      streams.close();
    },
    detach: () => streams.close(),
    remove,
  };
}

/** @throws {RunClaudeError} POD_STUCK for a container that says nothing; its pod is deleted then */
async function inTime(head: Promise<string>, name: string, { api, proofSeconds }: PodParts): Promise<string> {
  const stopped = new AbortController();
  const late = sleep(proofSeconds * 1000, undefined, { signal: stopped.signal }).catch(() => undefined);
  const said = await Promise.race([head, late]);
  stopped.abort();
  if (said !== undefined) return said;
  await removePod(name, api).catch(() => undefined);
  throw new RunClaudeError('POD_STUCK', `pod ${name} does not prove its layers within ${proofSeconds} seconds`, {
    hint: 'deploy/kubernetes/README.md has what a node needs.',
  });
}

/** @throws {RunClaudeError} ENGINE_LAYER_MISSING, where init reached what a NetworkPolicy has to stop */
function refuseAnswers(weaker: string | undefined, name: string): void {
  const reached = weaker?.split('; ').flatMap((one) => /^network policy: (.*)$/.exec(one)?.[1] ?? []) ?? [];
  if (reached.length === 0) return;
  throw new RunClaudeError('ENGINE_LAYER_MISSING', `no policy stops pod ${name}: ${printable(reached.join('; '))}`, {
    hint: 'Nothing was run in it. Does the network plugin of the cluster enforce NetworkPolicies?',
  });
}

function noProof(name: string, status: number): RunClaudeError {
  return new RunClaudeError('POD_ENDED', `pod ${name} ended with status ${status} before it proved its layers`);
}
