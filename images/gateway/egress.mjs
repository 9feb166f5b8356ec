// Whether a host may be reached, and the connection to it: the policy in one place for CONNECT, plain HTTP and
// brokered hosts. A name is resolved once, after it is allowed, and the address that was judged is the one connected to.
import dns from 'node:dns/promises';
import http from 'node:http';
import net from 'node:net';
import { mayConnect, specialUse } from './addresses.mjs';
import { nameMatches } from './names.mjs';

/** Distinct names below one wildcard, so that its labels carry no data out through the resolver. */
const NAMES_PER_WILDCARD = 200;

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

/**
 * @param {import('../../src/types/gateway.ts').GatewayConfig} config
 * @param {ReturnType<typeof import('./relay.mjs').createRelay>} relay
 */
export function createEgress(config, relay) {
  let rules = config.rules;
  /** @type {Map<string, Set<string>>} */
  const namesSeen = new Map();

  /** Throws Refused, or gives the rule that lets the host pass.
   * @param {string} host @param {number} port @param {readonly number[]} defaultPorts */
  function ruleFor(host, port, defaultPorts) {
    if (config.providerHosts.some((pattern) => nameMatches(pattern, host)))
      throw new Refused(`${host} is the provider's own host: only the credential broker talks to it`, {
        quiet: config.quiet.some((pattern) => nameMatches(pattern, host)),
      });
    const named = rules.filter((rule) => nameMatches(rule.host, host));
    const quiet = config.quiet.some((pattern) => nameMatches(pattern, host));
    if (named.length === 0) throw new Refused(`${host} is not an allowed host`, { unlisted: true, quiet });
    const rule = named.find((one) => (one.port === undefined ? defaultPorts.includes(port) : one.port === port));
    if (rule === undefined) throw new Refused(`port ${port} of ${host} is not allowed`, { unlisted: true });
    if (rule.host.startsWith('*.')) countName(rule.host, host);
    return rule;
  }

  /** @param {string} pattern @param {string} host */
  function countName(pattern, host) {
    const names = namesSeen.get(pattern) ?? new Set();
    namesSeen.set(pattern, names);
    if (!names.has(host) && names.size >= NAMES_PER_WILDCARD)
      throw new Refused(`more than ${NAMES_PER_WILDCARD} different names below ${pattern}`);
    names.add(host);
  }

  /** @param {string} host @returns {Promise<readonly string[]>} */
  async function resolve(host) {
    if (net.isIP(host) !== 0) return [host];
    const fixed = Object.hasOwn(config.hosts, host) ? config.hosts[host] : undefined;
    if (fixed !== undefined) return fixed;
    const asked = dns.lookup(host, { all: true }).catch((error) => {
      const none = error.code === 'ENOTFOUND' || error.code === 'ENODATA';
      throw new Error(`${host}: ${none ? 'there is no such name' : 'the resolver fails'} (${error.code})`);
    });
    const found = await within(config.limits.connectMs, `${host}: the resolver gives no answer`, asked);
    return found.map((entry) => entry.address);
  }

  /** The addresses of a host that may be connected to. Every address must be allowed: a name with one private address
   * among public ones is no accident. @param {string} host */
  async function judgedAddresses(host) {
    const addresses = await resolve(host);
    const bad = addresses.map((one) => addressOf(one).host).find((one) => !mayConnect(one, config.allowAddresses));
    if (bad !== undefined)
      throw new Refused(`${host} resolves to ${bad} (${specialUse(bad)}); --allow-address would have to name it`);
    return addresses;
  }

  /** @param {string} host @param {number} port @returns {Promise<import('node:stream').Duplex>} */
  async function throughProxy(host, port) {
    const proxy = /** @type {NonNullable<typeof config.proxy>} */ (config.proxy);
    const url = new URL(proxy.url);
    // A name that the proxy's side knows and ours does not is the proxy's to judge; one that we can see is ours too.
    if (net.isIP(host) !== 0 || Object.hasOwn(config.hosts, host)) await judgedAddresses(host);
    else await judgedAddresses(host).catch((error) => (error instanceof Refused ? Promise.reject(error) : undefined));
    const proxyPort = Number(url.port || 80);
    const way = proxy.relay ? relay.open('proxy') : net.connect(proxyPort, url.hostname);
    if (way instanceof net.Socket) await connected(way, config.limits.connectMs, 'the HTTPS proxy');
    const authority = net.isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
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
    const answer = new Promise((done, failed) => {
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
    return within(config.limits.connectMs, 'the HTTPS proxy gave no answer', answer).catch((error) => {
      way.destroy();
      throw error;
    });
  }

  /** Whether the host's own settings say that no proxy is asked for this name. @param {string} host @param {number} port */
  const straight = (host, port) =>
    (config.proxy?.except ?? []).some((entry) => {
      const [pattern = '', only] = entry.split('@');
      const fits = pattern === '*' || pattern === host || nameMatches(`*.${pattern}`, host);
      return fits && (only === undefined || Number(only) === port);
    });

  /** A connection to a host that the rules let pass. Throws Refused, or an Error when it cannot be reached.
   * @param {string} host @param {number} port @param {import('./tunnel.mjs').Inlet} [inlet] for what it will receive
   * @returns {Promise<{ socket: import('node:stream').Duplex, inlet?: import('./tunnel.mjs').Inlet }>} */
  async function dialInto(host, port, inlet) {
    if (config.proxy !== undefined && !straight(host, port)) return { socket: await throughProxy(host, port) };
    const addresses = await judgedAddresses(host);
    /** @type {unknown} */
    let last = new Error(`${host} has no address`);
    for (const address of addresses.slice(0, 4)) {
      const into = inlet === undefined ? {} : { onread: inlet.onread };
      const socket = net.connect({ port, ...addressOf(address), noDelay: true, allowHalfOpen: true, ...into });
      try {
        await connected(socket, config.limits.connectMs, host);
        return { socket, ...(inlet === undefined ? {} : { inlet }) };
      } catch (error) {
        last = error;
      }
    }
    throw last;
  }

  return {
    ruleFor,
    dialInto,
    /** As dialInto, for whoever reads the socket as a stream. @param {string} host @param {number} port */
    dial: async (host, port) => (await dialInto(host, port)).socket,
    throughProxy,
    /** @param {typeof config.rules} next */
    setRules(next) {
      rules = next;
    },
  };
}

/** @typedef {ReturnType<typeof createEgress>} Egress */
