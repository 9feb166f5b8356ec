import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type Docker from 'dockerode';
import { RunClaudeError } from '../../core/errors.ts';
import { jsonIn } from '../../core/text/json-in.ts';
import type { Archive, ImageBuild } from '../../core/types/engine.ts';
import { progressLine, readAnswer } from './answers.ts';
import { MAX_ANSWER_BYTES } from './connection/answer-limit.ts';
import { callEngine, diskFull } from './failure.ts';

/** Sends a build context and follows the build. */
export async function buildImage(docker: Docker, context: Archive, request: ImageBuild): Promise<void> {
  await callEngine('build the image', async () => {
    const answer = await docker.buildImage(Readable.from(context), {
      t: request.tag,
      buildargs: { ...request.args },
      ...(request.labels === undefined ? {} : { labels: { ...request.labels } }),
      nocache: request.fresh,
      ...(request.connected === false ? { networkmode: 'none' } : {}),
      rm: true,
      forcerm: true,
      // The classic builder: 20.10 has no other through its API.
      version: '1',
      // The engine ends a build whose client disconnects.
      ...(request.signal === undefined ? {} : { abortSignal: request.signal }),
    });
    const failure = await follow(answer, request.onOutput);
    if (failure === undefined) return;
    if (/no space left on device/i.test(failure)) throw diskFull('build the image', new Error(failure));
    throw new RunClaudeError('IMAGE_BUILD_FAILED', `the image could not be built: ${failure}`);
  });
}

/** Label of every image that run-claude makes: 'base', 'stage', 'foreign', or the version of Claude Code. */
export const IMAGE_LABEL = 'run-claude.image';

/** Loads the tar of a root file system as an image of one layer. */
export async function importImage(docker: Docker, rootfs: Archive, tag: string): Promise<void> {
  await callEngine('import the base image', async () => {
    // Name and tag in one field: Podman reads no other.
    const answer = await docker.importImage(Readable.from(rootfs), { repo: tag, changes: `LABEL ${IMAGE_LABEL}=base` });
    const failure = await follow(answer, () => undefined);
    if (failure !== undefined)
      throw new RunClaudeError('IMAGE_BUILD_FAILED', `the base image could not be imported: ${failure}`);
  });
}

/** Time limit for the registry's first answer. Where a resolver or a firewall drops requests, engines retry for minutes. */
const FIRST_ANSWER_MS = 30_000;

export interface PullSettings {
  readonly firstAnswerMs?: number;
  /** Every piece of output, uncleaned. */
  readonly onOutput?: ((text: string) => void) | undefined;
}

/** Pulls an image; a registry that does not answer in time is a failure too. */
export async function pullImage(
  docker: Docker,
  reference: string,
  timeoutMs: number,
  signal: AbortSignal,
  { firstAnswerMs = FIRST_ANSWER_MS, onOutput }: PullSettings = {},
): Promise<void> {
  const patience = new AbortController();
  const abortSignal = AbortSignal.any([patience.signal, signal]);
  let hasAnswered = false;
  const pull = async (): Promise<string | undefined> =>
    // The engine's first line follows the registry's answer.
    follow(await docker.pull(reference, { abortSignal }), (text) => {
      hasAnswered = true;
      onOutput?.(text);
    });
  const wait = async (): Promise<string> => {
    const firstMs = Math.min(timeoutMs, firstAnswerMs);
    await sleep(firstMs, undefined, { signal: abortSignal });
    if (!hasAnswered) return `no answer within ${firstMs / 1000} s`;
    await sleep(timeoutMs - firstMs, undefined, { signal: abortSignal });
    return `not complete after ${timeoutMs / 1000} s`;
  };
  try {
    const failure = await Promise.race([pull(), wait()]);
    if (failure !== undefined) throw new Error(failure);
  } catch (error) {
    const reason = error instanceof Error ? error.message.trim() : String(error);
    throw new RunClaudeError('IMAGE_PULL_FAILED', `could not pull ${reference}: ${reason}`, { cause: error });
  } finally {
    patience.abort();
  }
}

/** Reads the engine's JSON lines to their end; the error line's text, if there is one. */
async function follow(answer: NodeJS.ReadableStream, onOutput: (text: string) => void): Promise<string | undefined> {
  let pending = '';
  let failure: string | undefined;
  const take = (line: string): void => {
    if (line.trim() === '') return;
    const { stream, status, error } = readAnswer(jsonIn(line), progressLine, 'a request that takes long');
    const text = stream ?? (typeof status === 'string' ? `${status}\n` : undefined);
    if (text !== undefined) onOutput(text);
    if (typeof error === 'string') failure = error;
  };
  for await (const chunk of answer) {
    pending += chunk.toString('utf8');
    const lines = pending.split('\n');
    pending = lines.pop() ?? '';
    if (pending.length > MAX_ANSWER_BYTES) throw new Error('a line of its progress has no end');
    lines.forEach(take);
  }
  take(pending);
  return failure;
}
