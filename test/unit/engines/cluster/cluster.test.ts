import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { expect, it } from 'vitest';
import { kubernetesTable } from '../../../../src/core/config/tables/kubernetes.ts';
import { behindGate, END_OF_INPUT, framesOf, START_PROGRAM, signalLine } from '../../../../src/engines/cluster/gate.ts';
import {
  hasGateway,
  podName,
  type SessionPodParts,
  sessionPod,
  sessionPolicies,
} from '../../../../src/engines/cluster/pod.ts';
import { podState } from '../../../../src/engines/cluster/pod-status.ts';
import { clusterText, parseClusterTarget } from '../../../../src/engines/cluster/target.ts';
import { agentSpec } from '../../../../src/engines/engine/hardening/hardened.ts';
import { seccompFile } from '../../../../src/engines/render/pod.ts';

const SESSION = '261123-101500-abc';
const IMAGE = `registry.test/run-claude@sha256:${'a'.repeat(64)}`;

const AGENT = {
  sessionId: SESSION,
  image: 'run-claude:1',
  seccomp: '{}',
  user: '1000:1000',
  argv: ['true'],
  forwards: [],
  env: { PATH: '/bin' },
  workdir: '/workspace',
  mounts: [{ kind: 'volume', volume: `run-claude-${SESSION}-workspace`, target: '/workspace', readonly: false }],
  network: 'none',
  limits: { memoryMb: 96, cpus: 0, pids: 128, tmpMb: 32 },
  tty: false,
  stdin: 'none',
} as const;
const spec = agentSpec(AGENT);

const parts: SessionPodParts = {
  name: 'run-claude-x',
  owner: 'me',
  form: 'pod',
  gateway: undefined,
  image: IMAGE,
  claim: 'claim',
  volumes: new Map([[`run-claude-${SESSION}-workspace`, { place: 'workspace-1', labels: {} }]]),
  seccomp: '{}',
  removed: ['gone-1'],
  node: 'node-1',
  patienceSeconds: 60,
  deadlineSeconds: 100,
};
const pod = sessionPod(spec, parts);

it('reads names of contexts as clouds write them, and nothing else', () => {
  for (const context of ['kind-kind', 'arn:aws:eks:eu-1:1:cluster/a', 'me@corp', 'gke_a_b_c'])
    expect(clusterText(parseClusterTarget(`k8s:${context}`) ?? { context: '' })).toBe(`k8s:${context}`);
  expect(parseClusterTarget('slurm:test')).toBeUndefined();
  expect(parseClusterTarget('mine')).toBeUndefined();
  for (const wrong of ['k8s:', 'k8s:-x', 'k8s:a b', 'k8s:a\nb'])
    expect(() => parseClusterTarget(wrong)).toThrow(/context/);
});

it('a pod has one container of the RuntimeClass over directories of the claim, on one node, without a token', () => {
  const [container] = pod.spec.containers;
  const [prepare] = pod.spec.initContainers;
  expect(pod.spec).toMatchObject({
    runtimeClassName: 'run-claude',
    automountServiceAccountToken: false,
    hostNetwork: false,
    restartPolicy: 'Never',
    activeDeadlineSeconds: 100,
    volumes: [{ persistentVolumeClaim: { claimName: 'claim' } }],
  });
  expect(JSON.stringify(pod.spec.affinity)).toContain('node-1');
  expect(container?.image).toBe(IMAGE);
  expect(container?.volumeMounts).toEqual([
    { name: 'session', mountPath: '/workspace', subPath: 'volumes/workspace-1', readOnly: false },
  ]);
  expect(container?.securityContext.seccompProfile).toEqual({ type: 'Localhost', localhostProfile: seccompFile('{}') });
  expect(prepare?.volumeMounts).toEqual([{ name: 'session', mountPath: '/mnt', readOnly: false }]);
  expect(Object.keys(pod.metadata.annotations ?? {}).toSorted()).toEqual([
    'run-claude.confine.agent',
    'run-claude.confine.prepare',
  ]);
  expect(pod.metadata.labels).toEqual({
    'run-claude.owner': 'me',
    'run-claude.session': SESSION,
    'run-claude.role': 'agent',
  });
});

/** An agent that reaches a gateway. */
const withGateway = agentSpec({
  ...AGENT,
  forwards: ['47801=/run/gw/api.sock', '47802=/run/gw/proxy.sock', 'from=/run/gw/ports.sock'],
  until: '/run/gw/proxy.sock',
});

it('a pod of its own has no RuntimeClass, tries the network, and reaches the gateway by its address and word', () => {
  const gateway = { address: '10.1.2.3', word: 'w0' };
  const own = sessionPod(withGateway, { ...parts, form: 'pods', gateway });
  const [container] = own.spec.containers;
  const command = container?.command ?? [];
  expect([own.spec.runtimeClassName, own.metadata.annotations]).toEqual([undefined, undefined]);
  expect(command.slice(command.indexOf('--until'), command.indexOf('--'))).toEqual([
    ...['--until', '/run/gw/proxy.sock'],
    ...['--forward', '47801=tcp:10.1.2.3:47800/w0.api', '--forward', '47802=tcp:10.1.2.3:47800/w0.proxy'],
  ]);
  expect(command.join(' ')).toContain('unreachable neighbour 10.1.2.3 47801');
  const places = container?.volumeMounts.map(({ mountPath }) => mountPath);
  expect(places).toEqual(expect.arrayContaining(['/tmp', '/run', '/dev/shm', '/workspace']));
  for (const { name } of container?.volumeMounts ?? [])
    expect(own.spec.volumes.filter((one) => one.name === name)).toHaveLength(1);
});

it('a program whose words are those of init has no gateway by that', () => {
  expect(hasGateway(withGateway)).toBe(true);
  expect(hasGateway(agentSpec({ ...AGENT, argv: ['ssh', '--forward', 'x'] }))).toBe(false);
});

it('policies close every pod of the session, and let the gateway out', () => {
  const selectors = sessionPolicies(SESSION, 'me', 'pod') as readonly {
    readonly spec: { readonly egress: readonly object[]; readonly podSelector: object };
  }[];
  expect(selectors.map(({ spec: { egress } }) => egress)).toEqual([[], [{}]]);
  expect(JSON.stringify(selectors[1]?.spec.podSelector)).toContain('gateway');
});

it('policies of pods with a network open one port, from the agent to the gateway of its session', () => {
  const policies = sessionPolicies(SESSION, 'me', 'pods');
  for (const policy of policies) new NetworkPolicy(policy as ConstructorParameters<typeof NetworkPolicy>[0]).validate();
  const port = { protocol: 'TCP', port: 47_800 };
  const labels = { 'run-claude.owner': 'me', 'run-claude.session': SESSION };
  const ofRole = (role: string) => ({ podSelector: { matchLabels: { ...labels, 'run-claude.role': role } } });
  expect(policies.slice(2)).toMatchObject([
    { spec: { ...ofRole('gateway'), ingress: [{ from: [ofRole('agent')], ports: [port] }], egress: [] } },
    { spec: { ...ofRole('agent'), ingress: [], egress: [{ to: [ofRole('gateway')], ports: [port] }] } },
  ]);
});

it('names of pods are labels of DNS, and differ', () => {
  for (const name of ['run-claude-a', `run-claude-${'x'.repeat(90)}`, 'Run_Claude'])
    expect(podName({ name }, '0a1b2c3d')).toMatch(/^[a-z0-9][a-z0-9-]{0,62}$/);
});

/** Runs the words of a gate on this machine. PID 1 is this shell's own: no signal is sent. */
async function throughGate(argv: readonly string[], input: readonly (Buffer | string)[]): Promise<string> {
  const [program = '', ...words] = behindGate(argv, 5);
  // The gate kills every process that it may: it has its own namespace.
  const child = spawn('unshare', ['--user', '--pid', '--fork', '--kill-child', program, ...words], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const output = text(child.stdout);
  for (const piece of input) child.stdin.write(piece);
  return output;
}

const frameOf = (bytes: Buffer): Buffer => Buffer.concat([...framesOf(bytes)]);

it('the gate passes any bytes and their end, and starts nothing before its line', async () => {
  const bytes = Buffer.from(Array.from({ length: 600_000 }, (_, at) => (at * 7) % 256));
  const sum = (await throughGate(['sha256sum'], [START_PROGRAM, '+\n', frameOf(bytes), '+\n', END_OF_INPUT])).split(
    ' ',
  )[0];
  const { createHash } = await import('node:crypto');
  expect(sum).toBe(createHash('sha256').update(bytes).digest('hex'));
  expect(await throughGate(['echo', 'ran'], ['other\n'])).toBe('');
});

it('the gate ends its program when its client gives no sign', async () => {
  const before = Date.now();
  expect(await throughGate(['sh', '-c', 'echo on; sleep 60 & wait; exec 1>&-'], [START_PROGRAM])).toBe('on\n');
  expect(Date.now() - before).toBeLessThan(30_000);
}, 60_000);

it('sends only signals that it knows', () => {
  expect(signalLine('SIGTERM')).toBe('sTERM\n');
  expect(signalLine('9; rm -rf /')).toBeUndefined();
});

it('takes nothing of a cluster on trust: numbers are bounded, and text acts on no terminal', () => {
  const ended = (exitCode: unknown) =>
    podState({ status: { phase: 'Failed', containerStatuses: [{ state: { terminated: { exitCode } } }] } });
  for (const wrong of [-1, 256, 1.5, '0', null, {}]) expect(ended(wrong)).toMatchObject({ kind: 'ended', status: 255 });
  expect(ended(7)).toMatchObject({ status: 7 });
  for (const status of [undefined, null, 'x', [], { containerStatuses: 'x' }, { conditions: [null, 1] }])
    expect(podState({ status })).toEqual({ kind: 'waiting', why: '' });
  const evil = podState({
    status: { phase: 'Failed', reason: 'Evicted', message: `\u001b]0;x\u0007${'y'.repeat(5000)}` },
  });
  expect(evil).toMatchObject({ kind: 'ended', status: undefined });
  expect(evil.kind === 'ended' && evil.why.length < 600 && /^[\x20-\x7e]*$/.test(evil.why)).toBe(true);
});

it('an evicted pod has no exit status of its program, whatever its container says', () => {
  const containerStatuses = [{ state: { terminated: { exitCode: 0 } } }];
  expect(podState({ status: { phase: 'Failed', reason: 'Evicted', message: 'memory', containerStatuses } })).toEqual({
    kind: 'ended',
    status: undefined,
    why: 'Evicted: memory',
  });
});

it('the table takes an image by its digest only', () => {
  expect(kubernetesTable.parse({ image: IMAGE })).toMatchObject({
    namespace: 'run-claude',
    form: 'pod',
    sizeMb: 20_480,
  });
  for (const image of ['run-claude:1', 'x@sha256:1', `-x@sha256:${'a'.repeat(64)}`])
    expect(kubernetesTable.safeParse({ image }).success).toBe(false);
});
