// The gateway of one session: the agent's only way out. Started by the CLI, configured by the first line on stdin,
// ends when stdin does. It listens on unix sockets, in the directory that the agent's container mounts read-only, and on a
// port only where the agent is in another pod.
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import tls from 'node:tls';
import { createAgentPorts } from './agent-ports.mjs';
import { bound } from './bounds.mjs';
import { createBroker } from './broker.mjs';
import { createCa } from './certificate.mjs';
import { messageWriter, readMessages } from './channel.mjs';
import { DecoyWatch } from './decoys.mjs';
import { createEgress } from './egress.mjs';
import { createIntercept } from './intercept.mjs';
import { createLocalService } from './local-services.mjs';
import { createPodDoor } from './pod-door.mjs';
import { createProxy } from './proxy.mjs';
import { createRelay } from './relay.mjs';
import { createSecrets } from './secrets.mjs';
import { createBudget } from './usage.mjs';

/** @typedef {import('../../src/core/types/gateway.ts').GatewayConfig} GatewayConfig */

const tell = messageWriter(process.stdout);
/** They may be named before everything has started. */
const decoys = new DecoyWatch();

/** Whoever may open the directory may connect. @param {import('node:net').Server} server @param {string} file */
async function listen(server, file) {
  rmSync(file, { force: true });
  await new Promise((done, failed) => {
    server.once('error', failed);
    // Not with a chmod afterwards: in a companion's directory the name can lead elsewhere by then. The socket is made
    // before listen() returns.
    const before = process.umask(0o111);
    try {
      server.listen({ path: file, backlog: 1024 }, () => done(undefined));
    } finally {
      process.umask(before);
    }
  });
}

/** The certificates that the gateway trusts, read on first use: reading the well-known ones takes longer than a
 * handshake. @param {string} extraCa @returns {() => tls.SecureContext} */
function trustOnce(extraCa) {
  /** @type {tls.SecureContext | undefined} */
  let context;
  return () => {
    context ??= tls.createSecureContext({ ca: [...tls.rootCertificates, ...(extraCa === '' ? [] : [extraCa])] });
    return context;
  };
}

/** @param {GatewayConfig} config */
async function start(config) {
  const relay = createRelay(tell);
  const egress = createEgress(config, relay);
  const secrets = createSecrets(config.secret, () => tell({ type: 'secret-needed' }));
  const budget = createBudget(config);
  const trust = trustOnce(config.extraCa);
  decoys.setDecoys(config.decoys);
  /** @param {import('./proxy.mjs').Entry} entry */
  const log = (entry) => {
    // A server's certificate can put anything, and any length of it, into a TLS error's message.
    const why = entry.why === undefined ? {} : { why: entry.why.slice(0, 300) };
    tell({ type: 'log', at: new Date().toISOString(), ...entry, ...why });
  };
  const tellUsage = (limit = true) => {
    const exceeded = limit ? budget.exceeded() : undefined;
    const totals = { usage: budget.usage(), atMost: budget.atMost() };
    const tool = budget.tool();
    const message = /** @type {const} */ ({
      type: 'usage',
      ...totals,
      ...(tool === undefined ? {} : { tool }),
      ...(exceeded === undefined ? {} : { exceeded }),
    });
    return new Promise((/** @type {(value: void) => void} */ done) => tell(message, done));
  };
  const ca = config.brokers.length === 0 ? undefined : (config.ca ?? createCa(Date.now()));
  if (ca !== undefined) {
    const bundle = `${readFileSync(config.caBundle, 'utf8')}\n${config.extraCa}\n${ca.certificate}`;
    writeFileSync(path.join(config.directory, 'ca.pem'), bundle, { mode: 0o644 });
  }
  const logins = new Map(
    config.brokers.flatMap(({ login }) => {
      if (login === undefined) return [];
      const { name, secret } = login;
      return [[name, createSecrets(secret, () => tell({ type: 'secret-needed', login: name }))]];
    }),
  );
  const intercept =
    ca === undefined ? () => false : createIntercept({ config, ca, egress, trust, log, decoys, logins });
  const broker = createBroker({ config, egress, relay, secrets, budget, trust, log, decoys, tellUsage });
  const proxy = createProxy({ config, egress, log, decoys, intercept });
  for (const server of [broker, proxy]) bound(server, config.limits);
  const agentPorts = createAgentPorts(relay);
  await listen(broker, path.join(config.directory, 'api.sock'));
  await listen(agentPorts.server, path.join(config.directory, 'ports.sock'));
  /** @type {Map<string, import('node:net').Server>} */
  const locals = new Map(config.localPorts.map((port) => [`local-${port}`, createLocalService(port, relay, log)]));
  for (const [name, server] of locals) await listen(server, path.join(config.directory, `${name}.sock`));
  for (const { name, socket, rules } of config.companions) {
    // Nothing of the agent's: no brokered host, no rule, none of its limits' counts.
    const own = { ...config, rules, brokers: [] };
    const out = createProxy({
      config: own,
      egress: createEgress(own, relay),
      log: (entry) => log({ ...entry, companion: name }),
      decoys,
      intercept: () => false,
    });
    bound(out, config.limits);
    // The directory is the companion's: what it makes there must not keep the agent from its own way out.
    await listen(out, socket).catch((error) => {
      const why = `the way out of ${name} failed: ${error.code ?? 'unknown'}`;
      const place = { host: name, port: 0, method: 'LISTEN', up: 0, down: 0, ms: 0 };
      log({ kind: 'connect', companion: name, verdict: 'failed', ...place, why });
    });
  }
  if (config.podDoor !== undefined) {
    const { port, word } = config.podDoor;
    const door = createPodDoor(word, new Map(locals).set('api', broker).set('proxy', proxy), config.limits);
    await once(door.listen(port), 'listening');
  }
  // The last one: the agent's program may wait for it.
  await listen(proxy, path.join(config.directory, 'proxy.sock'));
  tell({ type: 'ready', ...(ca !== undefined && config.tellsCa ? { ca } : {}) });
  setImmediate(trust);
  return { relay, egress, secrets, logins, agentPorts };
}

/** @type {Awaited<ReturnType<typeof start>> | undefined} */
let running;

/** @param {{ readonly login?: string | undefined }} message */
const secretsOf = ({ login }) => (login === undefined ? running?.secrets : running?.logins.get(login));

/** @param {import('../../src/core/types/gateway.ts').ToGateway} message */
function take(message) {
  if (message.type === 'start')
    start(message).then(
      (parts) => {
        running = parts;
      },
      (error) => {
        tell({ type: 'failed', message: String(error) });
        process.exitCode = 1;
        process.stdin.destroy();
      },
    );
  else if (message.type === 'secret') secretsOf(message)?.take(message.secret);
  else if (message.type === 'secret-failed') secretsOf(message)?.refuse(message.message);
  else if (message.type === 'rules') running?.egress.setRules(message.rules);
  else if (message.type === 'decoys') decoys.setDecoys(message.decoys);
  else if (message.type === 'port-open') {
    if (running === undefined) tell({ type: 'relay-close', id: message.id, why: 'the gateway is not ready' });
    else running.agentPorts.connect(message.id, message.port);
  } else running?.relay.take(message);
}

// run-claude has ended: end too, whatever is still open.
process.stdout.on('error', () => process.exit(0));
process.on('SIGTERM', () => process.exit(0));
await readMessages(process.stdin, take).catch((error) => {
  if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
});
process.exit();
