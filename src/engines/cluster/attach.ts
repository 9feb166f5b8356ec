import { PassThrough } from 'node:stream';
import type { RawData } from 'ws';
import { RunClaudeError } from '../../core/errors.ts';
import { printable } from '../remote/printable.ts';
import type { ClusterApi } from './api.ts';
import type { ClusterAccess } from './kubeconfig.ts';

/** The streams of a container of a pod. */
export interface AttachedStreams {
  /** Everything but the client's: the connection's end is its end. */
  readonly stdout: PassThrough;
  readonly stderr: PassThrough;
  /** Resolves when the bytes were handed to the system; rejects once the connection has ended. */
  send(bytes: Buffer | string): Promise<void>;
  /** Resolves with the server's last message, when the connection has ended. */
  readonly ended: Promise<string>;
  close(): void;
}

/** The fifth is of Kubernetes 1.30. Both have the same channels; the end of input is in the frames of the gate. */
const PROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];
const CHANNELS = { stdin: 0, stdout: 1, stderr: 2, error: 3 } as const;
const OPEN_MS = 30_000;
const REFUSAL_MS = 5000;
const MAX_REFUSAL_CHARACTERS = 4096;
const PING_MS = 15_000;
const PIECE_BYTES = 32 * 1024;
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/**
 * Attaches to the only container of a pod.
 *
 * @throws {RunClaudeError} CLUSTER_UNREACHABLE, CLUSTER_REFUSED
 */
export async function attachPod(
  access: ClusterAccess,
  { namespace }: Pick<ClusterApi, 'namespace'>,
  pod: string,
  container: string,
): Promise<AttachedStreams> {
  const { WebSocket } = await import('ws');
  const query = new URLSearchParams({ container, stdin: 'true', stdout: 'true', stderr: 'true', tty: 'false' });
  const url = `${access.server.replace(/^https/, 'wss')}/api/v1/namespaces/${namespace}/pods/${pod}/attach?${query}`;
  const options = await access.options();
  const socket = new WebSocket(url, PROTOCOLS, {
    ...(options as object),
    handshakeTimeout: OPEN_MS,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', (error) => reject(unreachable(error)));
    socket.once('unexpected-response', (request, response) => {
      const { statusCode = 0 } = response;
      let said = '';
      // The answer may have no end.
      const timer = setTimeout(() => response.destroy(), REFUSAL_MS);
      response.on('data', (chunk: Buffer) => {
        said = (said + chunk.toString('utf8')).slice(0, MAX_REFUSAL_CHARACTERS);
        if (said.length === MAX_REFUSAL_CHARACTERS) response.destroy();
      });
      response.on('error', () => undefined);
      response.on('close', () => {
        clearTimeout(timer);
        request.destroy();
        reject(
          new RunClaudeError('CLUSTER_REFUSED', `the API server refused to attach (${statusCode}): ${messageIn(said)}`),
        );
      });
    });
  });
  const stdout = new PassThrough({ highWaterMark: 1 << 20 });
  const stderr = new PassThrough({ highWaterMark: 1 << 20 });
  let said = '';
  socket.on('message', (data: RawData) => {
    const bytes = Buffer.isBuffer(data) ? data : Buffer.concat(Array.isArray(data) ? data : [Buffer.from(data)]);
    const body = bytes.subarray(1);
    if (bytes[0] === CHANNELS.stdout && body.length > 0 && !stdout.write(body)) {
      // A slow reader slows the container down.
      socket.pause();
      stdout.once('drain', () => socket.resume());
    } else if (bytes[0] === CHANNELS.stderr && !stderr.writableNeedDrain) stderr.write(body);
    else if (bytes[0] === CHANNELS.error) said = messageIn(body.toString('utf8', 0, 4096));
  });
  let isAnswered = true;
  socket.on('pong', () => {
    isAnswered = true;
  });
  // A connection that was cut without a word would stay open for ever.
  const ping = setInterval(() => {
    if (!isAnswered && !socket.isPaused) return socket.terminate();
    isAnswered = socket.isPaused;
    socket.ping(() => undefined);
  }, PING_MS);
  ping.unref();
  const ended = new Promise<string>((resolve) => {
    socket.on('error', (error) => {
      said ||= printable(error.message);
    });
    socket.on('close', () => {
      clearInterval(ping);
      stdout.end();
      stderr.end();
      resolve(said);
    });
  });
  return {
    stdout,
    stderr,
    ended,
    async send(bytes) {
      const all = Buffer.from(bytes as Buffer);
      for (let at = 0; at < all.length; at += PIECE_BYTES) {
        const piece = Buffer.concat([Buffer.of(CHANNELS.stdin), all.subarray(at, at + PIECE_BYTES)]);
        await new Promise<void>((resolve, reject) => {
          socket.send(piece, (error) => (error ? reject(error) : resolve()));
        });
      }
    },
    close: () => socket.close(),
  };
}

function unreachable(cause: Error): RunClaudeError {
  return new RunClaudeError('CLUSTER_UNREACHABLE', `a pod cannot be attached to: ${printable(cause.message)}`, {
    cause,
  });
}

/** The message of a Status, or the text itself; empty for a success. */
function messageIn(text: string): string {
  try {
    const { status, message } = JSON.parse(text) as { readonly status?: unknown; readonly message?: unknown };
    return status === 'Success' ? '' : printable(message);
  } catch {
    return printable(text);
  }
}
