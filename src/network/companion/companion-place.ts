import type { Mount } from '../../core/types/engine.ts';

/** The gateway's user: each opens its own sockets in a companion's volume, and connects to those of the other. */
export const COMPANION_UID = 61_000;

/** Directory of a companion's volume, inside the companion. images/finish.sh gives `sockets` in it to the user. */
export const SOCKETS_ROOT = '/run/run-claude/gw';
/** Where a companion opens its socket and finds that of its way out. */
export const SOCKETS = `${SOCKETS_ROOT}/sockets`;

/** The socket of the companion's own, and of the gateway's proxy for it. */
const OWN_SOCKET = 'server.sock';
const OUT_SOCKET = 'out.sock';

const inGateway = (name: string): string => `/run/run-claude/companions/${name}`;

/** The header with a companion's token, by which it knows that a request is meant for it. */
export const TOKEN_HEADER = 'x-run-claude-token';

/** The engine's name of the volume with a companion's sockets. */
export function companionVolume(sessionId: string, name: string): string {
  return `run-claude-${sessionId}-companion-${name}`;
}

/** A companion's volume in the gateway's container. */
export function gatewayMount(sessionId: string, name: string): Mount {
  return { kind: 'volume', volume: companionVolume(sessionId, name), target: inGateway(name), readonly: false };
}

/** Sockets as the companion names them, and as the gateway does. */
export const socketsInside = { own: `${SOCKETS}/${OWN_SOCKET}`, out: `${SOCKETS}/${OUT_SOCKET}` } as const;

export function socketsInGateway(name: string): { readonly own: string; readonly out: string } {
  const dir = `${inGateway(name)}/sockets`;
  return { own: `${dir}/${OWN_SOCKET}`, out: `${dir}/${OUT_SOCKET}` };
}

/** A companion's volume in another container, which can only connect to what listens there. */
export function peerMount(sessionId: string, name: string): Mount {
  return { kind: 'volume', volume: companionVolume(sessionId, name), target: inPeer(name), readonly: true };
}

/** The companion's own socket, as that container names it. */
export const socketInPeer = (name: string): string => `${inPeer(name)}/sockets/${OWN_SOCKET}`;

const inPeer = (name: string): string => `/run/run-claude/peers/${name}`;
