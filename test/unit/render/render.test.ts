import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { agentSpec, collectorSpec, gatewaySpec } from '../../../src/engine/hardening/hardened.ts';
import { withProof } from '../../../src/engine/hardening/proof.ts';
import { RENDERED_LAYERS } from '../../../src/render/layers.ts';
import { lossesOf, provableArgv } from '../../../src/render/losses.ts';
import { ociConfig } from '../../../src/render/oci-config.ts';
import { ociSeccomp } from '../../../src/render/oci-seccomp.ts';
import { renderEngine, renderOci, renderPods, type SessionSpecs } from '../../../src/render/render.ts';
import type { ContainerSpec, Mount } from '../../../src/types/engine.ts';

const seccomp = readFileSync(new URL('../../../seccomp/profile.json', import.meta.url), 'utf8');
const common = { sessionId: '261123-101500-abc', image: 'run-claude:0123456789abcdef', seccomp };
const volume = (name: string, target: string, readonly: boolean): Mount => ({
  kind: 'volume',
  volume: name,
  target,
  readonly,
});

const agent = agentSpec({
  ...common,
  user: '1000:1001',
  argv: ['claude', '-p', 'hi $(HOME)'],
  forwards: ['8080=/x'],
  env: { PATH: '/usr/bin', HOME: '/home/agent', TEXT: '$(HOME)' },
  workdir: '/workspace',
  mounts: [volume('run-claude-a-ws', '/workspace', false), volume('run-claude-a-gw', '/run-claude', true)],
  network: 'none',
  limits: { memoryMb: 8192, cpus: 1.5, pids: 4096, tmpMb: 512 },
  tty: false,
  stdin: 'stream',
});
const SPECS: SessionSpecs = {
  agent,
  gateway: gatewaySpec({
    ...common,
    user: '61000:61000',
    argv: ['/usr/lib/run-claude/init', '--', 'node'],
    mounts: [volume('run-claude-a-gw', '/run-claude', false)],
    stdin: 'stream',
    bridge: 'run-claude-a',
  }),
  collector: collectorSpec({
    ...common,
    argv: ['/usr/lib/run-claude/collector'],
    mounts: [volume('run-claude-a-ws', '/roots/layer', true)],
    stdin: 'stream',
  }),
};
const place = {
  rootfs: 'rootfs',
  arch: 'amd64',
  volumes: { 'run-claude-a-ws': '/v/ws', 'run-claude-a-gw': '/v/gw' },
  networkNamespace: '/run/netns/x',
};
const shared = new Set(['run-claude-a-gw']);
const lostInPod = ['environment', 'masked-paths', 'read-only-paths', 'no-network', 'ipc-namespace', 'cgroup-namespace'];
const WITHOUT = [...lostInPod, 'no-resolver', 'swap', 'processes', 'process-limits', 'memory-directories', 'no-log'];

describe('the table of layers', () => {
  it('names each layer once, and where a target has no field it says what is lost', () => {
    const names = RENDERED_LAYERS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const { name, carried, lost } of RENDERED_LAYERS)
      for (const target of ['engine', 'oci', 'pod'] as const)
        if (carried[target] === 'no field') expect(lost?.[target], `${name}, ${target}`).toMatch(/\w/);
  });

  it('has every field of a request to the engine', () => {
    const named = RENDERED_LAYERS.map(({ carried }) => carried.engine).join(' ');
    const elsewhere = [
      'name',
      'Image',
      'Labels',
      'Healthcheck',
      'HostConfig',
      'Privileged',
      'AutoRemove',
      'Init',
      'Tty',
    ];
    const streams = ['OpenStdin', 'AttachStdin', 'AttachStdout', 'AttachStderr'];
    for (const { HostConfig = {}, ...body } of renderEngine(SPECS, 'o'))
      for (const field of [...Object.keys(body), ...Object.keys(HostConfig)])
        expect([...named.split(/[ ,]+/), ...elsewhere, ...streams], field).toContain(field);
  });

  it('the engine loses nothing, and an OCI bundle only what few sessions ask for', () => {
    for (const spec of [SPECS.agent, SPECS.gateway as ContainerSpec, SPECS.collector]) {
      expect(lossesOf('engine', spec)).toEqual([]);
      expect(lossesOf('oci', spec)).toEqual([]);
    }
    const more = { ...agent, gpus: true as const, loopbackNames: ['db'] };
    expect(lossesOf('oci', more).map(({ name }) => name)).toEqual(['loopback-names', 'graphics']);
  });
});

describe('an OCI bundle', () => {
  const configs = renderOci(SPECS, () => place, { without: [] });

  it('carries user, limits, namespaces, capabilities and mounts of each container', () => {
    const config = configs['agent'];
    expect(config?.process).toMatchObject({
      user: { uid: 1000, gid: 1001 },
      cwd: '/workspace',
      noNewPrivileges: true,
      env: ['PATH=/usr/bin', 'HOME=/home/agent', 'TEXT=$(HOME)'],
    });
    expect(Object.values(config?.process.capabilities ?? {}).flat()).toEqual([]);
    expect(config?.linux.resources).toEqual({
      devices: [{ allow: false, access: 'rwm' }],
      memory: { limit: 8_589_934_592, swap: 8_589_934_592 },
      cpu: { quota: 150_000, period: 100_000 },
      pids: { limit: 4096 },
    });
    expect(config?.linux.namespaces.map(({ type }) => type).sort()).toEqual(
      ['cgroup', 'ipc', 'mount', 'network', 'pid', 'uts'].sort(),
    );
    const at = (destination: string) => config?.mounts.find((mount) => mount.destination === destination);
    expect(at('/workspace')).toMatchObject({ source: '/v/ws', options: expect.arrayContaining(['rw', 'nosuid']) });
    expect(at('/run-claude')?.options).toContain('ro');
    expect(at('/tmp')?.options).toEqual(['rw', 'nosuid', 'nodev', 'exec', 'size=512m', 'mode=1777']);
    expect(configs['collector']?.process.capabilities.bounding).toEqual(['CAP_DAC_READ_SEARCH']);
    expect(configs['gateway']?.linux.namespaces).toContainEqual({ type: 'network', path: '/run/netns/x' });
  });

  it('has init prove everything that the engine has it prove', () => {
    expect(configs['agent']?.process.args).toEqual(withProof(agent).argv);
  });

  it('refuses a volume without a directory, and a network without a namespace', () => {
    expect(() => ociConfig(agent, { ...place, volumes: {} })).toThrow('no directory for the volume run-claude-a-ws');
    const { networkNamespace: _, ...without } = place;
    expect(() => ociConfig(SPECS.gateway as ContainerSpec, without)).toThrow('network namespace');
  });

  it('keeps every rule of the seccomp profile, and refuses a rule whose condition would be lost', () => {
    const rendered = ociSeccomp(seccomp, 'amd64');
    expect(rendered.architectures).toEqual(['SCMP_ARCH_X86_64']);
    expect(rendered.syscalls).toEqual(JSON.parse(seccomp).syscalls);
    expect(rendered.defaultAction).toBe('SCMP_ACT_ERRNO');
    expect(() => ociSeccomp(seccomp, 'riscv64')).toThrow('riscv64');
    const conditional = {
      ...JSON.parse(seccomp),
      syscalls: [{ names: ['x'], action: 'a', includes: { caps: ['y'] } }],
    };
    expect(() => ociSeccomp(JSON.stringify(conditional), 'amd64')).toThrow('includes');
  });
});

describe('a pod', () => {
  it('is refused as long as a lost layer is not named, and each is named with its reason', () => {
    expect(() => renderPods(SPECS, { shared }, { without: [] })).toThrow(/no-network: all containers of a pod share/);
    for (const name of WITHOUT)
      expect(() => renderPods(SPECS, { shared }, { without: WITHOUT.filter((one) => one !== name) })).toThrow(
        `\n  ${name}: `,
      );
    expect(() => renderPods(SPECS, { shared }, { without: ['everything'] })).toThrow("'everything' is not a layer");
  });

  it('without a gateway, the agent has no resolver', () => {
    const { gateway: _, ...alone } = SPECS;
    const without = WITHOUT.filter((name) => name !== 'no-resolver');
    const [pod] = renderPods(alone, { shared }, { without });
    expect(pod?.spec.dnsPolicy).toBe('None');
    expect(() => renderPods(SPECS, { shared }, { without })).toThrow('no-resolver: the gateway');
  });

  const [session, collector] = renderPods(SPECS, { shared }, { without: WITHOUT });

  it('holds agent and gateway, without a service account and without a restart', () => {
    expect(session?.spec.containers.map(({ name }) => name)).toEqual(['agent', 'gateway']);
    expect(session?.spec).toMatchObject({
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      shareProcessNamespace: false,
      hostNetwork: false,
      hostPID: false,
      hostIPC: false,
      restartPolicy: 'Never',
      dnsPolicy: 'Default',
    });
    expect(collector?.spec).toMatchObject({ dnsPolicy: 'None', containers: [{ name: 'collector' }] });
  });

  it('gives each container its user, no privileges, and the seccomp profile by its digest', () => {
    for (const { securityContext } of [...(session?.spec.containers ?? []), ...(collector?.spec.containers ?? [])]) {
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

  it('shares the sockets, and no directory in memory; names are valid and mounts have their volumes', () => {
    for (const pod of [session, collector]) {
      const names = pod?.spec.volumes.map(({ name }) => name) ?? [];
      expect(new Set(names).size).toBe(names.length);
      expect(names.filter((name) => !/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name))).toEqual([]);
      for (const { volumeMounts } of pod?.spec.containers ?? [])
        for (const { name } of volumeMounts) expect(names).toContain(name);
    }
    const mounts = session?.spec.containers.map(({ volumeMounts }) => volumeMounts.map(({ name }) => name)) ?? [];
    expect(mounts[0]?.filter((name) => mounts[1]?.includes(name))).toEqual(['run-claude-a-gw']);
    expect(session?.spec.volumes.find(({ name }) => name === 'run-claude-a-gw')?.emptyDir).toEqual({});
  });

  it('expands no variable in words and values', () => {
    expect(session?.spec.containers[0]?.command.at(-1)).toBe('hi $$(HOME)');
    expect(session?.spec.containers[0]?.env).toContainEqual({ name: 'TEXT', value: '$$(HOME)' });
  });

  it('has init prove what the pod carries, and nothing that it loses', () => {
    const proof = provableArgv('pod', withProof(agent))[2] ?? '';
    expect(proof).toContain('no-new-privileges');
    expect(proof).toContain('read-only-root');
    expect(proof).toContain('seccomp');
    expect(proof).toMatch(/group-limit memory \d/);
    expect(proof).not.toMatch(/masked|no-network|process-limit|pids|swap|tmpfs|own-namespaces/);
  });

  it('refuses a directory of this machine', () => {
    const bind: Mount = { kind: 'bind', source: '/home/x', target: '/workspace', readonly: false };
    expect(() =>
      renderPods({ ...SPECS, agent: { ...agent, mounts: [bind] } }, { shared }, { without: WITHOUT }),
    ).toThrow('cannot mount /home/x');
  });
});
