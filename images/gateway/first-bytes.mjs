// The first message of a tunnel: it must be TLS to the host that the tunnel was asked for.
import { readClientHello } from './client-hello.mjs';
import { Refused } from './egress.mjs';
import { cleanName, hostName } from './names.mjs';

/**
 * @typedef {import('node:stream').Duplex} Duplex
 * @typedef {import('./client-hello.mjs').FirstBytes} FirstBytes
 */

/** Reads a first message out of the chunks in which it arrives: again only when enough has arrived for more. A client may
 * send single bytes. */
export class FirstMessage {
  constructor() {
    /** @type {Buffer[]} */
    this.chunks = [];
    this.size = 0;
    this.needs = 1;
    /** How often all bytes were read. */
    this.reads = 0;
  }

  /** Everything that has arrived. */
  bytes() {
    const all = this.chunks.length === 1 ? this.chunks[0] : undefined;
    const bytes = all ?? Buffer.concat(this.chunks, this.size);
    this.chunks = [bytes];
    return bytes;
  }

  /** @param {Buffer} chunk @returns {FirstBytes} */
  push(chunk) {
    this.chunks.push(chunk);
    this.size += chunk.length;
    if (this.size < this.needs) return { kind: 'more', needs: this.needs };
    this.reads += 1;
    const found = readClientHello(this.bytes());
    if (found.kind === 'more') this.needs = found.needs;
    return found;
  }
}

/** The first bytes of a tunnel, put back for whoever reads next.
 * @param {Duplex} client @param {number} ms @returns {Promise<FirstBytes>} */
export function firstBytes(client, ms) {
  return new Promise((done) => {
    const message = new FirstMessage();
    /** @param {FirstBytes} found */
    const over = (found) => {
      clearTimeout(timer);
      client.off('data', take).off('end', ended).off('close', ended).off('error', ended);
      client.pause();
      if (message.size > 0 && !client.destroyed && !client.readableEnded) client.unshift(message.bytes());
      done(found);
    };
    const ended = () => over({ kind: 'bad', why: 'the connection ended before its first message' });
    /** @param {Buffer} chunk */
    const take = (chunk) => {
      const found = message.push(chunk);
      if (found.kind !== 'more') over(found);
    };
    const timer = setTimeout(() => over({ kind: 'bad', why: 'no first message in time' }), ms);
    client.on('data', take).once('end', ended).once('close', ended).once('error', ended);
    client.resume();
  });
}

/** Throws Refused unless the tunnel speaks TLS to the very host it was asked for.
 * @param {FirstBytes} first @param {string} host @param {boolean} isRulesPort a rule names this port */
export function judgeFirstBytes(first, host, isRulesPort) {
  if (first.kind === 'bad') throw new Refused(`${host}: ${first.why}`);
  if (first.kind === 'plain') {
    // A rule that names another port may mean another protocol; the user chose host and port, and so the server.
    if (isRulesPort) return;
    throw new Refused(`${host}: only TLS passes through CONNECT on this port`);
  }
  if (first.kind === 'more') throw new Refused(`${host}: no first message`);
  if (first.encrypted) throw new Refused(`${host}: an encrypted server name can't be judged`);
  const isAddress = /^[0-9.]+$/.test(host) || host.includes(':');
  if (first.serverName === undefined && isAddress) return;
  if (first.serverName === undefined) throw new Refused(`${host}: the TLS handshake names no server`);
  if (hostName(first.serverName) !== host)
    throw new Refused(`the TLS handshake names ${cleanName(first.serverName)}, the tunnel was asked for ${host}`);
}
