import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openEngine } from '../../../../src/cli/engines/open-engine.ts';
import { DEFAULTS } from '../../../../src/core/config/settings.ts';
import type { ContainerSpec, EngineFacts, RuntimeKind, VolumeSpec } from '../../../../src/core/types/engine.ts';
import type { HostFacts } from '../../../../src/core/types/plan.ts';
import type { Policy } from '../../../../src/core/types/policy.ts';
import type { ImageRuntime } from '../../../../src/core/types/runtime.ts';
import type { Asked } from '../../../../src/engines/capabilities/capability.ts';
import { COLUMNS, type Column, formPlace, placeOf } from '../../../../src/engines/capabilities/columns.ts';
import {
  lackedLayers,
  lostLayers,
  refuseLost,
  refuseUnsupported,
} from '../../../../src/engines/capabilities/refuse.ts';
import {
  CAPABILITIES,
  type CapabilityName,
  CONTAINER_FIELD_ROWS,
  POLICY_ROWS,
  supports,
} from '../../../../src/engines/capabilities/table.ts';
import { openClusterEngine } from '../../../../src/engines/cluster/cluster-engine.ts';
import type { ClusterEngineOptions } from '../../../../src/engines/cluster/options.ts';
import { type JobEngineOptions, openJobEngine } from '../../../../src/engines/jobs/job-engine.ts';
import { renderConfined, renderOwnPods } from '../../../../src/engines/render/render.ts';
import { type PlanInput, planRun } from '../../../../src/session/plan/plan-run.ts';
import { agent, SPECS, sockets } from '../../../support/rendered-specs.ts';

const NAMES = Object.keys(CAPABILITIES) as readonly CapabilityName[];
const ALL_COLUMNS = Object.keys(COLUMNS) as readonly Column[];
const LIVE = ALL_COLUMNS.filter((column) => !['oci', 'pod', 'pods'].includes(column));

const bind = { kind: 'bind', source: '/home/me', target: '/x', readonly: false } as const;
const volume: VolumeSpec = { name: 'run-claude-261121-140512-k7p-x', labels: {}, options: { type: 'overlay' } };
const one = <T>(value: unknown): T => value as T;

/** A session or a container that has the part, for every row that some column refuses. */
const EXAMPLES: Readonly<Partial<Record<CapabilityName, Asked>>> = {
  graphics: { policy: { gpu: true } },
  'bind-mode': { policy: { mode: 'bind' } },
  'host-directories': { spec: { mounts: [bind] } },
  'network-open': { policy: { network: 'open' } },
  'credentials-file': { policy: { credentials: 'file' } },
  'allow-local': { policy: { allowLocal: ['5432'] } },
  ports: { policy: { ports: ['3000'] } },
  runtime: { policy: { runtime: 'runsc' } },
  'other-folders': { policy: { also: ['/other'] } },
  caches: { policy: { caches: ['npm'] } },
  'isolate-claude-data': { policy: { isolateClaudeData: true } },
  services: { policy: { services: one([{ name: 'db' }]) } },
  'mcp-programs': { policy: { network: 'gateway', mcpPrograms: one([{ name: 'm', command: ['m'] }]) } },
  setup: { policy: { environment: { packages: [], setup: 'npm ci', env: {}, files: [] } } },
  packages: { policy: { environment: { packages: ['jq'], setup: undefined, env: {}, files: [] } } },
  image: { policy: { image: 'debian:12' } },
  toolchain: { policy: { toolchain: true } },
  'claude-version': { policy: { claudeVersion: 'latest' } },
  rebuild: { policy: { rebuild: true } },
  'other-agents': { program: { kind: 'codex', args: [], print: true }, agentLayer: {} },
  terminal: { tty: true },
  kept: { program: { kind: 'kept' } },
  companions: { spec: { role: 'companion' } },
  'joined-volumes': { volume },
};
/** A caller asks for the part by name: require-part.test.ts. */
const BY_NAME: readonly CapabilityName[] = ['image-builds', 'commands-inside'];

const REFUSED_IN_PODS =
  'allow-local bind-mode caches claude-version commands-inside companions credentials-file graphics host-directories image image-builds isolate-claude-data joined-volumes kept mcp-programs network-open other-agents other-folders packages ports rebuild runtime services setup terminal toolchain';
const REFUSED_AND_LOST: Readonly<Record<Column, readonly [refused: string, lost: string]>> = {
  docker: ['', ''],
  podman: ['graphics', ''],
  slurm: [
    'allow-local bind-mode caches commands-inside companions credentials-file graphics host-directories isolate-claude-data kept mcp-programs network-open other-folders ports runtime services setup terminal',
    'gateway-network memory swap',
  ],
  'kubernetes-pod': [REFUSED_IN_PODS, 'no-log'],
  'kubernetes-pods': [
    REFUSED_IN_PODS,
    'cgroup-namespace environment masked-paths memory-directories no-log no-network process-limits processes read-only-paths swap',
  ],
  oci: ['', 'caches graphics loopback-names mcp-programs other-folders ports services setup'],
  pod: [
    'host-directories network-open runtime',
    'caches graphics mcp-programs no-log other-folders ports services setup',
  ],
  pods: [
    'host-directories',
    'caches cgroup-namespace environment graphics masked-paths mcp-programs memory-directories no-log no-network other-folders ports process-limits processes read-only-paths services setup swap',
  ],
};

const refusedCells = (columns: readonly Column[]) =>
  columns.flatMap((column) =>
    NAMES.flatMap((name) => {
      const cell = CAPABILITIES[name].cells[column];
      return cell.is === 'refused' && !BY_NAME.includes(name) ? [{ column, name, code: cell.code }] : [];
    }),
  );

const kindOf = (column: Column): RuntimeKind =>
  column.startsWith('kubernetes') ? 'kubernetes' : (column as Exclude<RuntimeKind, 'kubernetes'>);
const factsOf = (column: Column): EngineFacts => ({
  ...one<EngineFacts>({ name: 'R', version: '9', endpoint: 'slurm:q', local: true, cgroupVersion: 2, runtimes: [] }),
  ...{
    seccomp: true,
    memoryLimit: true,
    swapLimit: true,
    pidsLimit: true,
    cpuLimit: true,
    gpus: true,
    runtimes: ['runsc'],
  },
  kind: kindOf(column),
  form: column === 'kubernetes-pod' ? 'pod' : column === 'kubernetes-pods' ? 'pods' : undefined,
});

const host = one<HostFacts>({
  ...{
    platform: 'linux',
    uid: 501,
    gid: 20,
    umask: 0o022,
    home: '/home/me',
    freeDiskMb: 10_000,
    columns: 80,
    rows: 24,
  },
  ...{ stateDir: '/s', cacheDir: '/c', dataDir: '/d', configDir: '/e' },
});

/** Plans a session on a runtime, as every start does. */
function plan(column: Column, { policy, program, tty = false }: Asked) {
  const input = one<PlanInput>({
    policy: { ...DEFAULTS, mode: 'copy', ...policy },
    host: { ...host, stdinTty: tty, stdoutTty: tty },
    project: { root: '/home/me/p', startIn: '', git: 'none', ownerUid: 501, ownerGid: 20 },
    engine: factsOf(column),
    program: program ?? { kind: 'exec', argv: ['true'] },
    userEnvironment: {},
    also: [],
  });
  const found = { spareId: 61_100, servantIdsWithAccount: [], alsoIds: [] };
  const image = { tag: 'run-claude:0', claudeVersion: undefined };
  return planRun(input, { ...found, sessionId: '261121-140512-k7p', image });
}

/** Makes what is asked for in a runtime that nothing answers for: a refusal comes before its first request. */
async function make(column: Column, { spec, volume: wanted }: Asked): Promise<unknown> {
  const dir = mkdtempSync(path.join(tmpdir(), 'rc-capabilities-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const asked: ContainerSpec = { ...agent, ...spec };
  const shared = path.join(dir, 'shared');
  const local = one<ImageRuntime>({ facts: { arch: 'amd64' }, images: {} });
  const runtime =
    column === 'slurm'
      ? openJobEngine(
          one<JobEngineOptions>({
            ...{ local, shared, scheduler: { title: 'Slurm' }, target: { scheduler: 'slurm', queue: 'q' } },
            uid: process.getuid?.(),
          }),
        )
      : openClusterEngine(
          one<ClusterEngineOptions>({ target: { context: 'a' }, form: factsOf(column).form, api: {}, owner: 'me' }),
        );
  return wanted === undefined ? runtime.create(asked) : runtime.createVolume(wanted);
}

/** Written here once more: a cell that is loosened in the table alone is red, whatever reads the table. */
it.each(ALL_COLUMNS)('%s refuses and loses these and no others', (column) => {
  const of = (what: string) => NAMES.filter((name) => CAPABILITIES[name].cells[column].is === what).sort();
  expect([of('refused').join(' '), of('unsupported').join(' ')]).toEqual(REFUSED_AND_LOST[column]);
});

describe('every refused cell', () => {
  it('has an example', () => {
    expect(refusedCells(ALL_COLUMNS).filter(({ name }) => EXAMPLES[name] === undefined)).toEqual([]);
  });

  it.each(refusedCells(LIVE))('$column refuses $name with $code when it starts', async ({ column, name, code }) => {
    const { spec, volume: wanted, ...rest } = EXAMPLES[name] as Asked;
    const status = code === 'USAGE' ? 2 : 125;
    const refusal = expect.objectContaining({
      code,
      status,
      message: expect.stringContaining(CAPABILITIES[name].words),
    });
    if (spec !== undefined || wanted !== undefined)
      await expect(make(column, EXAMPLES[name] as Asked)).rejects.toThrow(refusal);
    else expect(() => plan(column, rest)).toThrow(refusal);
  });

  it.each(refusedCells(['pod', 'pods']))('--dry-run=$column refuses $name with $code', ({ column, name, code }) => {
    const { policy = {}, spec } = EXAMPLES[name] as Asked;
    const specs = { ...SPECS, agent: { ...agent, ...spec }, plan: { policy: { ...DEFAULTS, ...policy } } };
    const without = lostLayers(column, [{ spec: specs.agent }]).map((layer) => layer.name);
    const render = column === 'pods' ? renderOwnPods : renderConfined;
    expect(() => render(specs, { sockets }, { without })).toThrow(expect.objectContaining({ code, status: 125 }));
  });

  it.each(['slurm:q', 'k8s:a'])('%s refuses each option before it connects to anything', async (on) => {
    const dir = mkdtempSync(path.join(tmpdir(), 'rc-capabilities-'));
    onTestFinished(() => rmSync(dir, { recursive: true }));
    const image = `registry.test/run-claude@sha256:${'a'.repeat(64)}`;
    writeFileSync(path.join(dir, 'config.toml'), `[kubernetes]\nimage = "${image}"\nform = "pods"\n`);
    const places = one<Parameters<typeof openEngine>[1]['places']>({ configDir: dir, stateDir: dir });
    const column = on.startsWith('k8s') ? 'kubernetes-pods' : 'slurm';
    for (const { name } of refusedCells([column])) {
      const { policy } = EXAMPLES[name] as Asked;
      if (policy === undefined) continue;
      const run = { policy: { ...DEFAULTS, mode: 'copy', ...policy } as Policy, without: [] };
      const opened = openEngine({ engine: 'auto', on, run }, { env: {}, places });
      await expect(opened, name).rejects.toThrow(`--on ${on} does not support: ${CAPABILITIES[name].words}`);
    }
  });

  it('a session that asks for nothing of the table is planned on each', () => {
    for (const column of LIVE) expect(plan(column, {}).engine.kind).toBe(kindOf(column));
  });
});

describe('lost layers', () => {
  const inPods = { spec: { network: 'none' } } as const;
  const pods = placeOf(factsOf('kubernetes-pods'));

  it('are refused until the user names them, and only names of the column count', () => {
    const names = lostLayers('kubernetes-pods', [inPods]).map(({ name }) => name);
    expect(names).toHaveLength(10);
    for (const name of names)
      expect(() => refuseLost(pods, [inPods], { accepted: names.filter((other) => other !== name) })).toThrow(
        expect.objectContaining({
          code: 'RENDER_LOSS',
          status: 125,
          message: expect.stringContaining(`\n  ${name}: `),
        }),
      );
    refuseLost(pods, [inPods], { accepted: names });
    expect(() => refuseLost(pods, [inPods], { accepted: [...names, 'seccomp'] })).toThrow(
      expect.objectContaining({ code: 'USAGE', message: expect.stringContaining("'seccomp' is not a layer") }),
    );
  });

  it('of Slurm: the network of the gateway always, memory and swap where the node says so', () => {
    const slurm = placeOf(factsOf('slurm'));
    const asked = [{ policy: { network: 'gateway' } }] as const;
    expect(lostLayers('slurm', asked).map(({ name }) => name)).toEqual(['gateway-network']);
    refuseLost(slurm, asked, { accepted: ['gateway-network', 'memory'] });
    refuseLost(slurm, [], { accepted: ['swap'], found: ['swap'] });
    expect(() => refuseLost(slurm, [], { accepted: ['swap'], found: ['memory', 'swap'] })).toThrow(
      /lost:\n {2}memory: /,
    );
  });

  it('leave their probes open, and no others', () => {
    expect(lackedLayers('kubernetes-pods', ['swap'])).toEqual([{ name: 'swap', probes: ['swap-limit'] }]);
    expect(lackedLayers('kubernetes-pod', ['swap'])).toEqual([]);
  });
});

it('an OCI bundle refuses nothing', () => expect(refusedCells(['oci'])).toEqual([]));

it('an engine supports every part, apart from graphics processors on Podman', () => {
  const missing = (column: Column) => NAMES.filter((name) => !supports(column, name));
  expect([missing('docker'), missing('podman')]).toEqual([[], ['graphics']]);
});

it('each part that some runtime loses or refuses is of a field of a policy or a container, or of the whole session', () => {
  const ofSession: readonly CapabilityName[] = ['terminal', 'kept', 'commands-inside', 'no-log', 'cgroup-namespace'];
  const fields = [...Object.values(POLICY_ROWS), ...Object.values(CONTAINER_FIELD_ROWS)];
  const named = [
    ...ofSession,
    'masked-paths',
    'read-only-paths',
    ...fields.flatMap((rows) => (rows === 'host' ? [] : rows)),
  ];
  const partial = NAMES.filter((name) => ALL_COLUMNS.some((column) => !supports(column, name)));
  expect(partial.filter((name) => !named.includes(name))).toEqual([]);
});

it('a form is named as the user writes it', () => {
  expect(() => refuseUnsupported(formPlace('pod'), { spec: { runtime: 'runsc' } })).toThrow(
    '--dry-run=pod does not support',
  );
});
