import type { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { maskWords } from '../core/text/mask-words.ts';
import type { Tell } from '../core/types/event.ts';

/**
 * Traces every HTTP request of this process (method, host, path, status, milliseconds) and every program that it starts,
 * with the seconds since the start, until it is disposed. Queries, headers, bodies and values that look like secrets are
 * left out: they may hold credentials.
 */
export function traceCalls(tell: Tell, nowMs: () => number = () => performance.now()): Disposable {
  const began = new WeakMap<ClientRequest, number>();
  const say = (text: string): void => tell({ kind: 'trace', text: `${(nowMs() / 1000).toFixed(3)} ${text}` });
  const request = (message: unknown): void => void began.set((message as Request).request, nowMs());
  const response = (message: unknown): void => {
    const { request, response } = message as Required<Request>;
    say(`${named(request)}: ${response.statusCode} in ${Math.round(nowMs() - (began.get(request) ?? nowMs()))} ms`);
  };
  const failed = (message: unknown): void => {
    const { request, error } = message as Request & { readonly error: Error };
    say(`${named(request)}: ${error.message}`);
  };
  const program = (message: unknown): void => {
    // The arguments are set once the process has been spawned, right after this event.
    const { process: child } = message as { readonly process: ChildProcess };
    queueMicrotask(() => say(`starts ${maskWords(child.spawnargs ?? []).join(' ')}`));
  };
  const channels = [
    ['http.client.request.start', request],
    ['http.client.response.finish', response],
    ['http.client.request.error', failed],
    ['child_process', program],
  ] as const;
  for (const [name, listener] of channels) subscribe(name, listener);
  return {
    [Symbol.dispose]: () => {
      for (const [name, listener] of channels) unsubscribe(name, listener);
    },
  };
}

interface Request {
  readonly request: ClientRequest;
  readonly response?: IncomingMessage;
}

function named(request: ClientRequest): string {
  const host = String(request.getHeader('host') ?? request.host);
  return `${request.method} ${host}${request.path.split('?')[0] ?? ''}`;
}
