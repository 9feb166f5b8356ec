import { describe, expect, it } from 'vitest';
import { DEFAULTS } from '../../../../src/core/config/settings.ts';
import type { ContainerSpec } from '../../../../src/core/types/engine.ts';
import type { AlsoFolder } from '../../../../src/core/types/plan.ts';
import type { Policy } from '../../../../src/core/types/policy.ts';
import { lostLayers } from '../../../../src/engines/capabilities/refuse.ts';
import { CAPABILITIES } from '../../../../src/engines/capabilities/table.ts';
import { withProof } from '../../../../src/engines/engine/hardening/proof.ts';
import { ociConfig } from '../../../../src/engines/render/oci-config.ts';
import { ociSeccomp } from '../../../../src/engines/render/oci-seccomp.ts';
import {
  type PlannedParts,
  renderConfined,
  renderEngine,
  renderOci,
  renderOwnPods,
  withoutParts,
} from '../../../../src/engines/render/render.ts';
import { GATEWAY_VOLUME } from '../../../../src/network/gateway/agent-side.ts';
import { agent, SPECS, seccomp, sockets } from '../../../support/rendered-specs.ts';

const place = {
  rootfs: 'rootfs',
  arch: 'amd64',
  volumes: { 'run-claude-a-ws': '/v/ws', 'run-claude-a-gw': '/v/gw' },
  networkNamespace: '/run/netns/x',
};
const WITHOUT = lostLayers('pods', [{ spec: agent }]).map(({ name }) => name);
const lostParts = (form: 'oci' | 'pod', { policy, also }: PlannedParts) => lostLayers(form, [{ policy, also }]);

const folder: AlsoFolder = {
  name: 'docs',
  isReadonly: true,
  sessionId: 'x',
  project: {
    root: '/docs',
    startIn: '',
    git: 'none',
    gitCommonDir: undefined,
    ownerUid: 1,
    ownerGid: 1,
  },
};
const service = {
  name: 'db',
  packages: [],
  command: ['db'],
  port: 5432,
  env: {},
  readyMs: 1,
  data: '/data',
  files: [],
  reaches: [],
  memoryMb: 16,
  diskMb: 16,
};
const program = { name: 'm', command: ['m'], env: {}, secrets: {}, hosts: [] };
const environment = { packages: ['jq'], setup: 'npm ci', env: {}, files: [] };
const planned = (policy: Partial<Policy>): PlannedParts => ({ policy: { ...DEFAULTS, network: 'gateway', ...policy } });
/** Each part, and a plan that has it alone. */
const PARTS: readonly (readonly [string, PlannedParts])[] = [
  ['services', planned({ services: [service] })],
  ['mcp-programs', planned({ mcpPrograms: [program] })],
  ['setup', planned({ environment })],
  ['caches', planned({ caches: ['npm'] })],
  ['other-folders', { ...planned({}), also: [folder] }],
  ['ports', planned({ ports: ['3000'] })],
];
const FULL: PlannedParts = {
  ...planned({ services: [service], mcpPrograms: [program], environment, caches: ['npm'], ports: ['3000'] }),
  also: [folder],
};

describe('the table of layers', () => {
  it('has every field of a request to the engine', () => {
    const named = Object.values(CAPABILITIES)
      .map(({ cells: { docker } }) => (docker.is === 'supported' ? docker.by : ''))
      .join(' ');
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

  it('Docker loses nothing, and an OCI bundle only what few sessions ask for', () => {
    for (const spec of [SPECS.agent, SPECS.gateway as ContainerSpec, SPECS.collector]) {
      expect(lostLayers('docker', [{ spec }])).toEqual([]);
      expect(lostLayers('oci', [{ spec }])).toEqual([]);
    }
    const more = { ...agent, gpus: true as const, loopbackNames: ['db'] };
    expect(lostLayers('oci', [{ spec: more }]).map(({ name }) => name)).toEqual(['loopback-names', 'graphics']);
  });

  it('names what a session has next to its containers, each as long as it is not named, in both forms', () => {
    const names = PARTS.map(([name]) => name);
    expect(lostParts('oci', SPECS.plan)).toEqual([]);
    expect(lostLayers('docker', [{ policy: FULL.policy, also: FULL.also }])).toEqual([]);
    for (const [name, plan] of PARTS) {
      expect(lostParts('oci', plan).map((layer) => layer.name)).toEqual([name]);
      expect(() => renderOci({ ...SPECS, plan }, () => place, { without: [] })).toThrow(`\n  ${name}: `);
      expect(() => renderConfined({ ...SPECS, plan }, { sockets }, { without: ['no-log'] })).toThrow(`\n  ${name}: `);
      expect(() => renderOwnPods({ ...SPECS, plan }, { sockets }, { without: WITHOUT })).toThrow(`\n  ${name}: `);
      expect(renderOci({ ...SPECS, plan }, () => place, { without: [name] })).toHaveProperty('agent');
    }
    expect(
      lostParts('pod', FULL)
        .map(({ name }) => name)
        .sort(),
    ).toEqual([...names].sort());
    expect(lostParts('pod', withoutParts(FULL))).toEqual([]);
    expect(lostParts('oci', { policy: { ...FULL.policy, network: 'none' } }).map(({ name }) => name)).not.toContain(
      'mcp-programs',
    );
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
    expect(at(GATEWAY_VOLUME)?.options).toContain('ro');
    const order = config?.mounts.map(({ destination }) => destination) ?? [];
    expect(order.indexOf(GATEWAY_VOLUME)).toBeGreaterThan(order.indexOf('/run'));
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
