import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Tell } from '../../core/types/event.ts';
import type { NetworkEntry } from '../../core/types/gateway.ts';
import { type Judgement, judgeRequest, type PreviewAddress, type RequestHead } from './judge-request.ts';

/** A stream to a port of the agent, which counts its bytes. */
export type PortStream = Duplex & { readonly sentBytes: number; readonly receivedBytes: number };

export interface PreviewDeps {
  /** Undefined while the session cannot be reached. */
  readonly openPort: (port: number) => PortStream | undefined;
  readonly log: (entry: NetworkEntry) => void;
  readonly tell: Tell;
  /** Hosts that the agent may reach by the user's word, `HOST[:PORT]`. */
  readonly allowedHosts: readonly string[];
}

/** One request, from its head to its entry in the log. */
export interface Exchange {
  readonly port: number;
  readonly request: IncomingMessage;
  readonly address: PreviewAddress;
  readonly judgement: Judgement;
  readonly deps: PreviewDeps;
  /** Only the first call counts. */
  log(verdict: NetworkEntry['verdict'], more?: { status?: number; why?: string; stream?: PortStream }): void;
}

/** Judges a request. `connection`: what its head does not say. */
export function openExchange(
  port: number,
  address: PreviewAddress,
  request: IncomingMessage,
  connection: Pick<RequestHead, 'isUpgrade' | 'isForeign'>,
  deps: PreviewDeps,
): Exchange {
  const startMs = performance.now();
  const { method = '', url: target = '', rawHeaders } = request;
  let isLogged = false;
  return {
    port,
    request,
    address,
    deps,
    judgement: judgeRequest({ method, target, rawHeaders, ...connection }, address),
    log(verdict, { status, why, stream } = {}) {
      if (isLogged) return;
      isLogged = true;
      const entry: NetworkEntry = {
        at: new Date().toISOString(),
        kind: 'preview',
        verdict,
        host: address.host,
        port,
        method: connection.isUpgrade ? 'WEBSOCKET' : method.slice(0, 10),
        up: stream?.sentBytes ?? 0,
        down: stream?.receivedBytes ?? 0,
        ms: Math.round(performance.now() - startMs),
        // A browser asks for icons by itself, and other pages may try their luck.
        quiet: true,
        ...(status === undefined ? {} : { status }),
        ...(why === undefined ? {} : { why: why.slice(0, 300) }),
      };
      try {
        deps.log(entry);
      } catch (error) {
        // The disk may be full. Callers run in events of sockets, where nothing else would catch it.
        deps.tell({ kind: 'trace', text: `preview: the network log: ${String(error)}` });
      }
    },
  };
}
