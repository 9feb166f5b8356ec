import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { DEFAULTS } from '../../../../src/core/config/settings.ts';
import type { Engine } from '../../../../src/core/types/runtime.ts';
import { lostLayers } from '../../../../src/engines/capabilities/refuse.ts';
import { agentSpec, collectorSpec, gatewaySpec, INSIDE } from '../../../../src/engines/engine/hardening/hardened.ts';
import { PROBES, readProbes } from '../../../../src/engines/engine/hardening/probes.ts';
import { readSeccompProfile } from '../../../../src/engines/engine/hardening/seccomp.ts';
import { GATEWAY_POD_PORT } from '../../../../src/engines/render/network-policy.ts';
import { LATER_GATEWAY } from '../../../../src/engines/render/own-pod.ts';
import type { Pod } from '../../../../src/engines/render/pod.ts';
import {
  type KubernetesObject,
  renderConfined,
  renderOwnPods,
  type SessionSpecs,
} from '../../../../src/engines/render/render.ts';
import { GATEWAY_DIR, GATEWAY_VOLUME } from '../../../../src/network/gateway/agent-side.ts';
import { connectForTest } from '../../../support/engine.ts';
import { testImage } from '../../../support/image.ts';
import { BRIDGE_ADDRESS, Containerd } from '../../../support/kubernetes/containerd.ts';
import { imageLayer } from '../../../support/kubernetes/image-layer.ts';
import { API_SERVER, RunningPod } from '../../../support/kubernetes/run-pod.ts';
import { skipUnless } from '../../../support/requirement.ts';

const RUNC = ['/usr/sbin/runc', '/usr/bin/runc'].find((file) => existsSync(file));
const isAble = process.getuid?.() === 0 && RUNC !== undefined;
const WRAPPER = path.resolve(import.meta.dirname, '../../../../deploy/kubernetes/wrapper.c');
const IMAGE = 'run-claude.test/session:1';
/** The agent's port of the gateway. */
const FORWARDED = 47_802;

let engine: Engine;
let containerd: Containerd;
let seccomp: string;

beforeAll(async () => {
  engine = await connectForTest();
  if (!isAble) return;
  seccomp = await readSeccompProfile();
  const image = await testImage(engine);
  containerd = await Containerd.start(RUNC ?? '', WRAPPER);
  containerd.importImage(IMAGE, imageLayer(image, containerd.dir, ['*/claude', 'usr/lib/git-core']), '/bin/true');
}, 300_000);

afterAll(async () => {
  await engine.close();
  await containerd?.[Symbol.asyncDispose]();
});

beforeEach((context) => skipUnless(isAble, 'needs root and runc', context));

const SESSION = '261123-101500-abc';
const SOCKETS = `run-claude-${SESSION}-gw`;
const PLACE = { sockets: new Map([[SOCKETS, GATEWAY_DIR]]) };

/** The containers of a session with these programs. */
function specsWith(agent: readonly string[], gateway: readonly string[]): SessionSpecs {
  const common = { sessionId: SESSION, image: IMAGE, seccomp };
  return {
    plan: { policy: DEFAULTS },
    agent: agentSpec({
      ...common,
      user: '1000:1000',
      argv: agent,
      forwards: [`${FORWARDED}=${GATEWAY_DIR}/proxy.sock`],
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/tmp', LANG: 'C.UTF-8' },
      workdir: '/workspace',
      mounts: [
        { kind: 'volume', volume: `run-claude-${SESSION}`, target: '/workspace', readonly: false },
        { kind: 'volume', volume: SOCKETS, target: GATEWAY_VOLUME, readonly: true },
      ],
      network: 'none',
      limits: { memoryMb: 96, cpus: 0, pids: 128, tmpMb: 32 },
      tty: false,
      stdin: 'none',
    }),
    gateway: gatewaySpec({
      ...common,
      user: '61000:61000',
      argv: [`${INSIDE}/init`, '--', ...gateway],
      mounts: [{ kind: 'volume', volume: SOCKETS, target: GATEWAY_VOLUME, readonly: false }],
      stdin: 'none',
      bridge: 'pod',
    }),
    collector: collectorSpec({ ...common, argv: ['true'], mounts: [], stdin: 'none' }),
  };
}

const podsIn = (objects: readonly KubernetesObject[]): Pod[] => objects.filter((one) => one.kind === 'Pod');

/** The pod of agent and gateway, as `--dry-run=pod` prints it, with these programs in it. */
function podWith(agent: readonly string[], gateway: readonly string[]): Pod {
  const [pod] = podsIn(renderConfined(specsWith(agent, gateway), PLACE, { without: ['no-log'] }));
  if (pod === undefined) throw new Error('no pod');
  // The gateway first: the agent's program finds its socket.
  return { ...pod, spec: { ...pod.spec, containers: pod.spec.containers.toReversed() } };
}

/** The pod whose init proves nothing: what holds then is what the runtime does. */
const unproved = (pod: Pod): Pod => ({
  ...pod,
  spec: {
    ...pod.spec,
    containers: pod.spec.containers.map(({ command, ...rest }) => ({
      ...rest,
      command: command.filter((_, index) => index !== 1 && index !== 2),
    })),
  },
});

const SLEEP = ['sleep', '600'];
const ANSWER = 'hello from the gateway';
/** Answers on the pod's socket, and tries the pod's network. */
const GATEWAY = `
  const net = require('node:net');
  const socket = '${GATEWAY_DIR}/proxy.sock';
  net.createServer((one) => one.end('${ANSWER}')).listen(socket, () => require('node:fs').chmodSync(socket, 0o666));
  net.connect(8080, '${BRIDGE_ADDRESS}').on('connect', () => console.log('reached')).on('error', (e) => console.log(e.code));
  setTimeout(() => {}, 600000);`;
/** Prints what the agent sees and reaches. */
const AGENT = `
  const [net, fs, os] = ['net', 'fs', 'os'].map((name) => require('node:' + name));
  const reach = (to) => new Promise((done) => {
    let said = '';
    net.connect(to).setTimeout(2000, function () { done('silence'); this.destroy(); }).on('error', (e) => done(e.code))
      .on('connect', () => said = 'connected').on('data', (data) => said = String(data)).on('close', () => done(said));
  });
  const socket = '${GATEWAY_DIR}/proxy.sock';
  const wait = () => fs.existsSync(socket) ? Promise.resolve() : new Promise((go) => setTimeout(go, 50)).then(wait);
  wait().then(async () => console.log(JSON.stringify({
    gateway: await reach({ path: socket }),
    neighbour: await reach({ host: '${BRIDGE_ADDRESS}', port: 8080 }),
    apiServer: await reach({ host: '${API_SERVER}', port: 443 }),
    interfaces: Object.keys(os.networkInterfaces()).filter((name) => name !== 'lo'),
    resolver: fs.readFileSync('/etc/resolv.conf', 'utf8').includes('10.96.0.10'),
    variables: Object.keys(process.env).filter((name) => name.startsWith('KUBERNETES_')),
    terminationLog: fs.existsSync('/dev/termination-log'),
  })));`;
const script = (text: string): string[] => ['node', '-e', text];

/** What the agent saw and reached. The neighbour of the pod is a server of the bridge. */
async function reachedIn(pod: Pod, handler: string): Promise<{ agent: unknown; gateway: string }> {
  const listen = `require('node:net').createServer((one) => one.end()).listen(8080, '${BRIDGE_ADDRESS}', () => console.log('ready'))`;
  const first = await RunningPod.start(
    containerd,
    { ...pod, spec: { ...pod.spec, containers: [] } },
    { handler, seccomp },
  );
  // The bridge has its address since the first pod.
  const words = [`--net=/proc/${containerd.pid}/ns/net`, process.execPath, '-e', listen];
  const neighbour = spawn('nsenter', words, { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    await new Promise((resolve) => neighbour.stdout.once('data', resolve));
    const running = await RunningPod.start(containerd, pod, { handler, seccomp });
    const { output } = await running.end('agent');
    const gateway = running.output('gateway');
    await running.remove();
    return { agent: JSON.parse(output.split('\n').at(-2) ?? 'null'), gateway };
  } finally {
    neighbour.kill('SIGKILL');
    await first.remove();
  }
}

it('with the wrapper, init proves every layer, and no probe gets through', async () => {
  const pod = await RunningPod.start(containerd, podWith([PROBES], SLEEP), { handler: 'run-claude', seccomp });
  const { status, output } = await pod.end('agent');
  const [first, ...rows] = output.split('\n');
  expect([first, status]).toEqual(['proven', 0]);
  const results = readProbes(rows.join('\n'));
  expect(results.filter(({ result }) => result === 'open')).toEqual([]);
  expect(results.filter(({ result }) => result === 'stopped').length).toBeGreaterThan(250);
  expect(pod.output('gateway')).toBe('proven\n');
  await pod.remove();
});

it('without the wrapper, init refuses to start, and the same probes get through a container without init’s proof', async () => {
  const pod = podWith([PROBES], SLEEP);
  const refused = await RunningPod.start(containerd, pod, { handler: 'plain', seccomp });
  const { status, output } = await refused.end('agent');
  expect(status).toBe(125);
  for (const layer of ['network none', 'masked and read-only paths', 'limits: nofile', 'limits: pids', 'tmpfs options'])
    expect(output).toContain(layer);
  expect(output.split('\n')).toHaveLength(2);
  await refused.remove();
  const weak = await RunningPod.start(containerd, unproved(pod), { handler: 'plain', seccomp });
  const results = readProbes((await weak.end('agent')).output);
  expect(results.filter(({ result }) => result === 'open').length).toBeGreaterThan(20);
  await weak.remove();
});

it('with the wrapper, the agent reaches the socket of the gateway and nothing else; the gateway has the network of the pod', async () => {
  const { agent, gateway } = await reachedIn(podWith(script(AGENT), script(GATEWAY)), 'run-claude');
  expect(agent).toEqual({
    gateway: ANSWER,
    neighbour: 'ENETUNREACH',
    apiServer: 'ENETUNREACH',
    interfaces: [],
    resolver: false,
    variables: [],
    terminationLog: false,
  });
  expect(gateway).toBe('proven\nreached\n');
});

it('without the wrapper, the agent reaches the network of the pod', async () => {
  const { agent } = await reachedIn(unproved(podWith(script(AGENT), script(GATEWAY))), 'plain');
  expect(agent).toMatchObject({
    gateway: ANSWER,
    neighbour: 'connected',
    interfaces: ['eth0'],
    resolver: true,
    variables: ['KUBERNETES_SERVICE_HOST', 'KUBERNETES_SERVICE_PORT'],
    terminationLog: true,
  });
});

it('the wrapper refuses an agent whose annotation containerd does not hand over, and containerd reports why', async () => {
  await expect(
    RunningPod.start(containerd, podWith([PROBES], SLEEP), { handler: 'no-annotations', seccomp }),
  ).rejects.toThrow('the pod has no annotation run-claude.confine.agent, or pod_annotations');
});

/** A gateway in its own pod: prints its address, and answers on its port with the first line that it reads. */
const FAR_GATEWAY = `
  const answer = (one) => one.once('data', (data) => one.end('${ANSWER}: ' + String(data).split('\\n')[0]));
  require('node:net').createServer(answer).listen(${GATEWAY_POD_PORT}, () =>
    console.log(require('node:os').networkInterfaces().eth0.find(({ family }) => family === 'IPv4').address));`;
const FAR_AGENT = `
  const reach = (to) => new Promise((done) => {
    let said = '';
    require('node:net').connect(to).setTimeout(2000, function () { done('silence'); this.destroy(); }).on('error', (e) => done(e.code))
      .on('connect', function () { said = 'connected'; this.write('x'); }).on('data', (data) => said = String(data))
      .on('close', () => done(said));
  });
  (async () => console.log(JSON.stringify({
    gateway: await reach({ host: '127.0.0.1', port: ${FORWARDED} }),
    neighbour: await reach({ host: '${BRIDGE_ADDRESS}', port: 8080 }),
  })))();`;

/** Stands for a network plugin: pods reach the gateway's port, and nothing else. */
function enforce(gateway: string): void {
  const rules = [
    ['-P', 'FORWARD', 'DROP'],
    ['-A', 'FORWARD', '-d', gateway, '-p', 'tcp', '--dport', String(GATEWAY_POD_PORT), '-j', 'ACCEPT'],
    ['-A', 'FORWARD', '-s', gateway, '-p', 'tcp', '--sport', String(GATEWAY_POD_PORT), '-j', 'ACCEPT'],
    ['-P', 'INPUT', 'DROP'],
  ];
  const net = `--net=/proc/${containerd.pid}/ns/net`;
  for (const rule of rules) execFileSync('nsenter', [net, 'iptables', ...rule]);
}

it('in pods of their own, init refuses to start the agent until a policy is enforced; then it reaches the gateway’s port alone', async () => {
  const without = lostLayers('pods', [{ spec: specsWith([], []).agent }]).map(({ name }) => name);
  const [gatewayPod, agentPod] = podsIn(
    renderOwnPods(specsWith(script(FAR_AGENT), script(FAR_GATEWAY)), PLACE, { without }),
  );
  if (gatewayPod === undefined || agentPod === undefined) throw new Error('no pods');
  const gateway = await RunningPod.start(containerd, gatewayPod, { handler: 'plain', seccomp });
  await expect.poll(() => gateway.output('gateway'), { timeout: 30_000 }).toMatch(/^proven\n10\./);
  const address = gateway.output('gateway').split('\n')[1] ?? '';
  const placed = JSON.parse(JSON.stringify(agentPod).replaceAll(LATER_GATEWAY.address, address)) as Pod;
  const refused = await RunningPod.start(containerd, placed, { handler: 'plain', seccomp });
  const { status, output } = await refused.end('agent');
  expect([status, output]).toEqual([
    125,
    `network policy: neighbour ${address} port ${GATEWAY_POD_PORT + 1} answers\n`,
  ]);
  await refused.remove();
  enforce(address);
  const agent = await RunningPod.start(containerd, placed, { handler: 'plain', seccomp });
  const { output: printed } = await agent.end('agent');
  expect(printed.split('\n')[0]).toBe('proven');
  expect(JSON.parse(printed.split('\n')[1] ?? 'null')).toEqual({
    gateway: `${ANSWER}: ${LATER_GATEWAY.word}.proxy`,
    neighbour: 'silence',
  });
  await agent.remove();
  await gateway.remove();
});
