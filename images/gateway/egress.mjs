// Whether a host may be reached, and the connection to it: one policy for CONNECT, plain HTTP and brokered hosts. A name
// is resolved once, after it was allowed, and the gateway connects to the address that was judged.
import dns from 'node:dns/promises';
import http from 'node:http';
import net from 'node:net';
import { mayConnect, specialUse } from './addresses.mjs';
import { nameMatches } from './names.mjs';

/** Distinct names below one wildcard, so that its labels carry no data out through the resolver. */
const MAX_NAMES_PER_WILDCARD = 200;
/** Addresses of one name that are tried. */
const MAX_ADDRESSES = 4;

/**
 * @typedef {import('node:stream').Duplex} Duplex
 * @typedef {import('../../src/core/types/gateway.ts').GatewayConfig} GatewayConfig
 */

/** A request that the policy does not let pass; the message is for the agent. */
export class Refused extends Error {
  /** @param {string} why @param {{ unlisted?: boolean, quiet?: boolean }} [more] */
  constructor(why, more = {}) {
    super(why);
    this.unlisted = more.unlisted === true;
    this.quiet = more.quiet === true;
  }
}

/** @param {number} ms @param {string} why @param {Promise<T>} promise @template T @returns {Promise<T>} */
async function within(ms, why, promise) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const late = new Promise((_, failed) => {
    timer = setTimeout(() => failed(new Error(why)), ms);
  });
  try {
    return /** @type {T} */ (await Promise.race([promise, late]));
  } finally {
    clearTimeout(timer);
  }
}

/** An entry of the fixed names: 'address', or 'address@port' to be reached on another port. @param {string} text
 * @returns {{ host: string, port?: number }} */
function addressOf(text) {
  const [host = '', port] = text.split('@');
  return port === undefined ? { host } : { host, port: Number(port) };
}

/** @param {net.Socket} socket @param {number} ms @param {string} what */
function connected(socket, ms, what) {
  return within(
    ms,
    `${what}: no answer in ${ms / 1000} s`,
    new Promise((done, failed) => {
      socket.once('connect', () => done(undefined));
      socket.once('error', failed);
    }),
  ).catch((error) => {
    socket.destroy();
    throw error;
  });
}

/** Which hosts the policy lets pass. */
class HostRules {
  /** @param {GatewayConfig} config */
  constructor(config) {
    this.config = config;
    this.rules = config.rules;
    /** Names that were used below each wildcard. @type {Map<string, Set<string>>} */
    this.namesBelow = new Map();
  }

  /** The rule that lets the host pass. Throws Refused.
   * @param {string} host @param {number} port @param {readonly number[]} defaultPorts */
  find(host, port, defaultPorts) {
    const quiet = this.config.quiet.some((pattern) => nameMatches(pattern, host));
    if (this.config.providerHosts.some((pattern) => nameMatches(pattern, host)))
      throw new Refused(`${host} is the provider's own host: only the credential broker talks to it`, { quiet });
    const named = this.rules.filter((rule) => nameMatches(rule.host, host));
    if (named.length === 0) throw new Refused(`${host} is not an allowed host`, { unlisted: true, quiet });
    const isNarrow = this.config.brokers.some((one) => one.host === host && 'requests' in one.passes);
    if (isNarrow && port !== 443)
      throw new Refused(`port ${port} of ${host} is not allowed: its requests are read on port 443 only`);
    const rule = named.find((one) => (one.port === undefined ? defaultPorts.includes(port) : one.port === port));
    if (rule === undefined) throw new Refused(`port ${port} of ${host} is not allowed`, { unlisted: true });
    if (rule.host.startsWith('*.')) this.countName(rule.host, host);
    return rule;
  }

  /** @param {string} pattern @param {string} host */
  countName(pattern, host) {
    const names = this.namesBelow.get(pattern) ?? new Set();
    this.namesBelow.set(pattern, names);
    if (!names.has(host) && names.size >= MAX_NAMES_PER_WILDCARD)
      throw new Refused(`more than ${MAX_NAMES_PER_WILDCARD} different names below ${pattern}`);
    names.add(host);
  }
}

/** @param {GatewayConfig} config @param {ReturnType<typeof import('./relay.mjs').createRelay>} relay */
export function createEgress(config, relay) {
  return new Egress(config, relay);
}

/** The way out of the gateway. */
export class Egress {
  /** @param {GatewayConfig} config @param {ReturnType<typeof import('./relay.mjs').createRelay>} relay */
  constructor(config, relay) {
    this.config = config;
    this.relay = relay;
    this.rules = new HostRules(config);
  }

  /** The rule that lets the host pass. Throws Refused.
   * @param {string} host @param {number} port @param {readonly number[]} defaultPorts */
  ruleFor(host, port, defaultPorts) {
    return this.rules.find(host, port, defaultPorts);
  }

  /** @param {GatewayConfig['rules']} rules */
  setRules(rules) {
    this.rules.rules = rules;
  }

  /** A connection to a host that the rules let pass. Throws Refused, or an Error when it cannot be reached.
   * @param {string} host @param {number} port @param {import('./tunnel.mjs').Inlet} [inlet] for what it will receive
   * @returns {Promise<{ socket: Duplex, inlet?: import('./tunnel.mjs').Inlet }>} */
  async dialInto(host, port, inlet) {
    if (this.config.proxy !== undefined && !this.bypassesProxy(host, port))
      return { socket: await this.throughProxy(host, port) };
    const { connectMs } = this.config.limits;
    const addresses = await this.judgedAddresses(host);
    /** @type {unknown} */
    let lastError = new Error(`${host} has no address`);
    for (const address of addresses.slice(0, MAX_ADDRESSES)) {
      const into = inlet === undefined ? {} : { onread: inlet.onread };
      const socket = net.connect({ port, ...addressOf(address), noDelay: true, allowHalfOpen: true, ...into });
      try {
        await connected(socket, connectMs, host);
        return { socket, ...(inlet === undefined ? {} : { inlet }) };
      } catch (error) {
        lastError = error;
      }
    }
    throw lastError;
  }

  /** As dialInto, for a reader that takes the socket as a stream. @param {string} host @param {number} port */
  async dial(host, port) {
    return (await this.dialInto(host, port)).socket;
  }

  /** @param {string} host @returns {Promise<readonly string[]>} */
  async resolve(host) {
    const { hosts, limits } = this.config;
    if (net.isIP(host) !== 0) return [host];
    const fixed = Object.hasOwn(hosts, host) ? hosts[host] : undefined;
    if (fixed !== undefined) return fixed;
    const asked = dns.lookup(host, { all: true }).catch((error) => {
      const isUnknown = error.code === 'ENOTFOUND' || error.code === 'ENODATA';
      throw new Error(`${host}: ${isUnknown ? 'there is no such name' : 'the resolver fails'} (${error.code})`);
    });
    const found = await within(limits.connectMs, `${host}: the resolver gives no answer`, asked);
    return found.map((entry) => entry.address);
  }

  /** The addresses of a host. Throws Refused unless all of them may be connected to: a name with one private address
   * among public ones is not an accident. @param {string} host */
  async judgedAddresses(host) {
    const addresses = await this.resolve(host);
    const { allowAddresses, specialAddresses } = this.config;
    const bad = addresses
      .map((one) => addressOf(one).host)
      .find((one) => !mayConnect(one, allowAddresses, specialAddresses));
    if (bad !== undefined)
      throw new Refused(
        `${host} resolves to ${bad} (${specialUse(bad, specialAddresses)}); --allow-address would have to name it`,
      );
    return addresses;
  }

  /** Whether the host's settings name this host as one to reach without the proxy.
   * @param {string} host @param {number} port */
  bypassesProxy(host, port) {
    return (this.config.proxy?.except ?? []).some((entry) => {
      const [pattern = '', only] = entry.split('@');
      const isNamed = pattern === '*' || pattern === host || nameMatches(`*.${pattern}`, host);
      return isNamed && (only === undefined || Number(only) === port);
    });
  }

  /** @param {string} host @param {number} port @returns {Promise<Duplex>} */
  async throughProxy(host, port) {
    const { hosts, limits, proxy } = this.config;
    if (proxy === undefined) throw new Error('there is no HTTPS proxy');
    // A name that only the proxy can resolve is the proxy's to judge. One that resolves here is judged here too.
    if (net.isIP(host) !== 0 || Object.hasOwn(hosts, host)) await this.judgedAddresses(host);
    else
      await this.judgedAddresses(host).catch((error) => (error instanceof Refused ? Promise.reject(error) : undefined));
    const url = new URL(proxy.url);
    const socket = proxy.relay ? this.relay.open('proxy') : net.connect(Number(url.port || 80), url.hostname);
    if (socket instanceof net.Socket) await connected(socket, limits.connectMs, 'the HTTPS proxy');
    const tunnel = askProxy(socket, url, net.isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`);
    return within(limits.connectMs, 'the HTTPS proxy gave no answer', tunnel).catch((error) => {
      socket.destroy();
      throw error;
    });
  }
}

/** The tunnel that a proxy opens. @param {Duplex} way to the proxy @param {URL} url of the proxy
 * @param {string} authority host:port @returns {Promise<Duplex>} */
function askProxy(way, url, authority) {
  const login = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  const request = http.request({
    method: 'CONNECT',
    path: authority,
    headers: {
      host: authority,
      ...(url.username === '' ? {} : { 'proxy-authorization': `Basic ${Buffer.from(login).toString('base64')}` }),
    },
    createConnection: () => way,
  });
  return new Promise((done, failed) => {
    request.once('connect', (response, socket, head) => {
      if (response.statusCode !== 200) return failed(new Error(`the HTTPS proxy answered ${response.statusCode}`));
      socket.on('error', () => socket.destroy());
      if (head.length > 0) socket.unshift(head);
      done(socket);
    });
    request.once('response', (response) => failed(new Error(`the HTTPS proxy answered ${response.statusCode}`)));
    request.once('error', failed);
    request.end();
  });
}
