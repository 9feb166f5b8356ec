import * as client from '@kubernetes/client-node';
import { NetworkPolicy as ValidPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { Pod as ValidPod } from 'kubernetes-models/v1/Pod';
import { describe, expect, it } from 'vitest';
import type { ContainerSpec, Mount } from '../../../../src/core/types/engine.ts';
import { lostLayers } from '../../../../src/engines/capabilities/refuse.ts';
import { MASKED_PATHS } from '../../../../src/engines/engine/hardening/masked-paths.ts';
import { withProof } from '../../../../src/engines/engine/hardening/proof.ts';
import type { Confinement } from '../../../../src/engines/render/confine.ts';
import type { NetworkPolicy } from '../../../../src/engines/render/network-policy.ts';
import type { Pod } from '../../../../src/engines/render/pod.ts';
import { type KubernetesObject, renderConfined, renderOwnPods } from '../../../../src/engines/render/render.ts';
import { GATEWAY_DIR } from '../../../../src/network/gateway/agent-side.ts';
import { agent, SPECS, sockets } from '../../../support/rendered-specs.ts';

const place = { sockets };
const namesOf = (target: 'pod' | 'pods', spec: ContainerSpec): string[] =>
  lostLayers(target, [{ spec }]).map(({ name }) => name);
const IN_POD = ['no-log'];
const IN_PODS = namesOf('pods', agent);
const podsOf = (objects: readonly KubernetesObject[]): Pod[] => objects.filter((one) => one.kind === 'Pod');
const policiesOf = (objects: readonly KubernetesObject[]): NetworkPolicy[] =>
  objects.filter((one) => one.kind === 'NetworkPolicy');

const confined = renderConfined(SPECS, place, { without: IN_POD });
const own = renderOwnPods(SPECS, place, { without: IN_PODS });
const [session, collector] = podsOf(confined);
const [gatewayPod, agentPod, collectorPod] = podsOf(own);

const confinementOf = (pod: Pod | undefined, role: string): Confinement =>
  JSON.parse(pod?.metadata.annotations?.[`run-claude.confine.${role}`] ?? 'null') as Confinement;

describe('what a target loses of an agent', () => {
  it.each([
    ['pod', IN_POD],
    [
      'pods',
      [
        ...['environment', 'masked-paths', 'read-only-paths', 'no-network', 'cgroup-namespace', 'swap', 'processes'],
        ...['process-limits', 'memory-directories', 'no-log'],
      ],
    ],
  ] as const)('%s: exactly these layers, and each is refused until it is named', (target, lost) => {
    expect([...namesOf(target, agent)].sort()).toEqual([...lost].sort());
    const render = (without: readonly string[]) =>
      target === 'pods' ? renderOwnPods(SPECS, place, { without }) : renderConfined(SPECS, place, { without });
    for (const name of lost) expect(() => render(lost.filter((one) => one !== name))).toThrow(`\n  ${name}: `);
    expect(() => render(['everything'])).toThrow("'everything' is not a layer");
    expect(render(lost).length).toBeGreaterThan(3);
  });
});

type TypeMap = { readonly baseName: string; readonly type: string }[];
type Model = { getAttributeTypeMap?: () => TypeMap };
const MODELS = client as unknown as Readonly<Record<string, Model | undefined>>;

/** Fields of a value that the client's model of that name does not have, with their places. */
function unknownFields(value: unknown, type: string, at: string): string[] {
  const [, item] = /^Array<(.+)>$/.exec(type) ?? [];
  if (item !== undefined && Array.isArray(value))
    return value.flatMap((one, index) => unknownFields(one, item, `${at}[${index}]`));
  const fields = MODELS[type]?.getAttributeTypeMap?.();
  if (fields === undefined || typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const field = fields.find(({ baseName }) => baseName === name);
    return field === undefined ? [`${at}.${name}`] : unknownFields(inner, field.type, `${at}.${name}`);
  });
}

describe('the objects', () => {
  it('are valid by the models of Kubernetes, and have no field that they do not have', () => {
    const pods = [...podsOf(confined), ...podsOf(own)];
    expect(pods).toHaveLength(5);
    for (const pod of pods) {
      const plain = JSON.parse(JSON.stringify(pod)) as ConstructorParameters<typeof ValidPod>[0];
      new ValidPod(plain).validate();
      expect(unknownFields(plain, 'V1Pod', 'pod')).toEqual([]);
    }
    const policies = [...policiesOf(confined), ...policiesOf(own)];
    expect(policies).toHaveLength(5);
    for (const policy of policies) {
      const plain = JSON.parse(JSON.stringify(policy)) as ConstructorParameters<typeof ValidPolicy>[0];
      new ValidPolicy(plain).validate();
      expect(unknownFields(plain, 'V1NetworkPolicy', 'policy')).toEqual([]);
    }
  });

  it('would be refused with a wrong type, or with a field of another name', () => {
    const wrong = { ...session, spec: { ...session?.spec, hostNetwork: 'no', hostNet: true } };
    const plain = JSON.parse(JSON.stringify(wrong)) as ConstructorParameters<typeof ValidPod>[0];
    expect(() => new ValidPod(plain).validate()).toThrow('hostNetwork');
    expect(unknownFields(plain, 'V1Pod', 'pod')).toEqual(['pod.spec.hostNet']);
  });

  it('have no service account, no restart, no shared processes, no privileges, and the profile by its digest', () => {
    for (const { spec } of [...podsOf(confined), ...podsOf(own)]) {
      expect(spec).toMatchObject({
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        shareProcessNamespace: false,
        hostNetwork: false,
        hostPID: false,
        hostIPC: false,
        restartPolicy: 'Never',
      });
      for (const { securityContext } of spec.containers)
        expect(securityContext).toMatchObject({
          privileged: false,
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
          seccompProfile: {
            type: 'Localhost',
            localhostProfile: expect.stringMatching(/^run-claude\/[0-9a-f]{16}\.json$/),
          },
        });
    }
    expect(session?.spec.containers[0]?.securityContext.runAsUser).toBe(1000);
    expect(collector?.spec.containers[0]?.securityContext.capabilities.add).toEqual(['DAC_READ_SEARCH']);
  });

  it('share no directory in memory; names are valid, and mounts have their volumes', () => {
    for (const { spec } of [...podsOf(confined), ...podsOf(own)]) {
      const names = spec.volumes.map(({ name }) => name);
      expect(new Set(names).size).toBe(names.length);
      expect(names.filter((name) => !/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name))).toEqual([]);
      for (const { volumeMounts } of spec.containers)
        for (const { name } of volumeMounts) expect(names).toContain(name);
    }
    const mounts = session?.spec.containers.map(({ volumeMounts }) => volumeMounts.map(({ name }) => name)) ?? [];
    expect(mounts[0]?.filter((name) => mounts[1]?.includes(name))).toEqual(['run-claude-a-gw']);
    expect(session?.spec.volumes.find(({ name }) => name === 'run-claude-a-gw')?.emptyDir).toEqual({});
    const at = session?.spec.containers.map(({ volumeMounts }) =>
      volumeMounts.find(({ name }) => name === 'run-claude-a-gw'),
    );
    expect(at).toMatchObject([
      { mountPath: GATEWAY_DIR, readOnly: true },
      { mountPath: GATEWAY_DIR, readOnly: false },
    ]);
  });

  it('expand no variable in words and values', () => {
    for (const pod of [session, agentPod]) {
      expect(pod?.spec.containers[0]?.command.at(-1)).toBe('hi $$(HOME)');
      expect(pod?.spec.containers[0]?.env).toContainEqual({ name: 'TEXT', value: '$$(HOME)' });
    }
  });

  it('refuse a directory of this machine', () => {
    const bind: Mount = { kind: 'bind', source: '/home/x', target: '/workspace', readonly: false };
    const specs = { ...SPECS, agent: { ...agent, mounts: [bind] } };
    const refusal = expect.objectContaining({
      code: 'RENDER_LOSS',
      message: expect.stringContaining('does not support: a directory of this machine'),
    });
    expect(() => renderConfined(specs, place, { without: IN_POD })).toThrow(refusal);
    expect(() => renderOwnPods(specs, place, { without: IN_PODS })).toThrow(refusal);
  });
});

describe('one pod of the RuntimeClass', () => {
  it('names the RuntimeClass, and annotates each container with its layers', () => {
    expect(podsOf(confined).map(({ spec }) => spec.runtimeClassName)).toEqual(['run-claude', 'run-claude']);
    expect(session?.spec.containers.map(({ name }) => name)).toEqual(['agent', 'gateway']);
    expect(confinementOf(session, 'agent')).toMatchObject({
      version: 1,
      network: 'none',
      environment: ['PATH', 'HOME', 'TEXT'],
      pids: 4096,
      nofile: 16_384,
      masked: MASKED_PATHS,
      tmpfs: expect.arrayContaining([
        { path: '/tmp', kilobytes: 524_288, mode: '1777', noexec: false },
        { path: '/run', kilobytes: 16_384, mode: '755', noexec: true, uid: 1000, gid: 1001 },
        { path: '/dev/shm', kilobytes: 65_536, mode: '1777', noexec: true },
      ]),
    });
    expect(confinementOf(session, 'gateway').network).toBe('pod');
    expect(confinementOf(collector, 'collector').network).toBe('none');
  });

  it('has init prove everything that the engine has it prove', () => {
    expect(session?.spec.containers[0]?.command[2]).toBe(withProof(agent).argv[2]);
  });

  it('lets nothing in, and nothing out of the collector', () => {
    expect(policiesOf(confined).map(({ spec }) => [spec.ingress, spec.egress])).toEqual([
      [[], [{}]],
      [[], []],
    ]);
    const { gateway: _, ...alone } = SPECS;
    const [first] = policiesOf(renderConfined(alone, place, { without: IN_POD }));
    expect(first?.spec.egress).toEqual([]);
  });

  it('refuses another runtime, and an agent with a network', () => {
    const render = (changed: ContainerSpec) => renderConfined({ ...SPECS, agent: changed }, place, { without: IN_POD });
    expect(() => render({ ...agent, runtime: 'runsc' })).toThrow('--dry-run=pod does not support: --runtime');
    expect(() => render({ ...agent, network: { bridge: 'x' } })).toThrow(
      '--dry-run=pod does not support: --network open',
    );
  });
});

describe('a pod for each container', () => {
  const port = { protocol: 'TCP', port: 47_800 };

  it('leaves the agent one port of the gateway, and no name server', () => {
    const [ofAgent, ofGateway, ofCollector] = policiesOf(own);
    expect(ofAgent?.spec).toMatchObject({ policyTypes: ['Ingress', 'Egress'], ingress: [] });
    expect(ofAgent?.spec.egress).toEqual([
      { to: [{ podSelector: { matchLabels: gatewayPod?.metadata.labels } }], ports: [port] },
    ]);
    expect(ofAgent?.spec.podSelector.matchLabels).toEqual(agentPod?.metadata.labels);
    expect(ofGateway?.spec.ingress).toEqual([
      { from: [{ podSelector: { matchLabels: agentPod?.metadata.labels } }], ports: [port] },
    ]);
    expect([ofCollector?.spec.ingress, ofCollector?.spec.egress]).toEqual([[], []]);
    expect(ofCollector?.spec.podSelector.matchLabels).toEqual(collectorPod?.metadata.labels);
    expect(agentPod?.spec.dnsPolicy).toBe('None');
    expect(gatewayPod?.spec.dnsPolicy).toBe('Default');
  });

  it('starts the gateway first; the agent has its address, waits for no socket, and shares no volume', () => {
    const command = agentPod?.spec.containers[0]?.command ?? [];
    const options = command.slice(3, command.indexOf('--'));
    expect(options).toEqual(['--forward', '47802=tcp:GATEWAY_POD_IP:47800/GATEWAY_WORD.proxy']);
    expect(agentPod?.spec.volumes.find(({ name }) => name === 'run-claude-a-gw')?.configMap).toEqual({
      name: 'run-claude-261123-101500-abc-ca',
      optional: true,
    });
    expect(
      agentPod?.spec.volumes.filter(({ emptyDir }) => emptyDir !== undefined && emptyDir.medium !== 'Memory'),
    ).toEqual([]);
  });

  it('has init prove what the pod carries, try what the policy stops, and prove nothing that is lost', () => {
    const proof = agentPod?.spec.containers[0]?.command[2] ?? '';
    for (const line of [/^no-new-privileges$/m, /^read-only-root$/m, /^seccomp$/m, /^group-limit memory \d/m])
      expect(proof).toMatch(line);
    expect(proof).not.toMatch(/masked|no-network|process-limit|pids|swap|tmpfs|own-namespaces/);
    const tried = proof.split('\n').filter((line) => line.startsWith('unreachable'));
    expect(tried).toEqual([
      'unreachable api-server',
      'unreachable name-server',
      'unreachable metadata 169.254.169.254 80',
      'unreachable metadata fd00:ec2::254 80',
      'unreachable neighbour GATEWAY_POD_IP 47801',
    ]);
    expect(gatewayPod?.spec.containers[0]?.command[2]).not.toContain('unreachable');
    expect(collectorPod?.spec.containers[0]?.command[2]).toContain('unreachable api-server');
  });

  it('tries the network with a runtime of another kernel too, whose other values init does not know', () => {
    const [, other] = podsOf(
      renderOwnPods({ ...SPECS, agent: { ...agent, runtime: 'kata' } }, place, { without: IN_PODS }),
    );
    expect(other?.spec.runtimeClassName).toBe('kata');
    const command = other?.spec.containers[0]?.command ?? [];
    expect(command[1]).toBe('--prove');
    expect(command[2]).toMatch(/^unreachable api-server\n/);
  });

  it('without a gateway, the agent reaches nothing', () => {
    const { gateway: _, ...alone } = SPECS;
    const objects = renderOwnPods(alone, place, { without: IN_PODS });
    expect(policiesOf(objects).map(({ spec }) => spec.egress)).toEqual([[], []]);
    expect(podsOf(objects).map(({ spec }) => spec.containers[0]?.name)).toEqual(['agent', 'collector']);
  });
});
