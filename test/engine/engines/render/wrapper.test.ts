import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { MASKED_PATHS } from '../../../../src/engines/engine/hardening/masked-paths.ts';
import { confinementsOf } from '../../../../src/engines/render/confine.ts';
import { agent } from '../../../support/rendered-specs.ts';

// The wrapper of deploy/kubernetes without containerd: a stand-in for runc prints the words that it got.

const SOURCE = path.resolve(import.meta.dirname, '../../../../deploy/kubernetes/wrapper.c');
const KEY = 'run-claude.confine.agent';
const GATEWAY_KEY = 'run-claude.confine.gateway';
const [ANNOTATION = ''] = Object.values(confinementsOf([agent]));

let dir: string;
let wrapper: string;

beforeAll(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'run-claude-wrapper-'));
  wrapper = path.join(dir, 'run-claude-runc');
  const runc = path.join(dir, 'runc');
  writeFileSync(runc, '#!/bin/sh\nprintf "%s\\n" "$@"\n');
  chmodSync(runc, 0o755);
  const flags = ['-std=gnu11', '-Wall', '-Wextra', '-Werror', `-DRUNTIME_DIRS="/nowhere","${dir}"`];
  execFileSync('gcc', [...flags, '-o', wrapper, SOURCE, '-ljansson']);
});

afterAll(() => rmSync(dir, { recursive: true, force: true }));

type Json = Record<string, unknown>;

/** A configuration as containerd writes it, as far as the wrapper reads it. */
const config = (annotations: Json): Json => ({
  ociVersion: '1.0.2-dev',
  process: {
    user: { uid: 1000, gid: 1001 },
    env: ['PATH=/usr/bin', 'HOME=/home/agent', 'TEXT=x=y', 'KUBERNETES_SERVICE_HOST=10.96.0.1', 'PATHS=/x'],
    noNewPrivileges: true,
  },
  mounts: [
    { destination: '/proc', type: 'proc', source: 'proc' },
    { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid'] },
    { destination: '/dev/shm', type: 'bind', source: '/run/shm', options: ['rbind', 'rw'] },
    { destination: '/etc/resolv.conf', type: 'bind', source: '/run/resolv.conf', options: ['rbind', 'ro'] },
    { destination: '/workspace', type: 'bind', source: '/claims/ws', options: ['rbind', 'rw'] },
    { destination: '/run/run-claude/gw/sockets', type: 'bind', source: '/pods/gw', options: ['rbind', 'ro'] },
    { destination: '/dev/termination-log', type: 'bind', source: '/pods/log', options: ['rbind', 'rw'] },
  ],
  annotations,
  linux: {
    namespaces: [
      { type: 'pid' },
      { type: 'ipc', path: '/proc/7/ns/ipc' },
      { type: 'uts', path: '/proc/7/ns/uts' },
      { type: 'mount' },
      { type: 'network', path: '/run/netns/pod' },
    ],
    resources: { memory: { limit: 8_589_934_592 }, cpu: { shares: 2 } },
    maskedPaths: ['/proc/kcore', '/proc/of-the-runtime'],
    readonlyPaths: ['/proc/bus'],
    seccomp: { syscalls: [{ names: ['x'], args: [{ index: 0, value: 4_294_967_295, op: 'SCMP_CMP_EQ' }] }] },
  },
});
const container = (name: string, more: Json = {}): Json =>
  config({ 'io.kubernetes.cri.container-type': 'container', 'io.kubernetes.cri.container-name': name, ...more });

/** Runs the wrapper on a bundle with this text as config.json. */
function run(text: string, words?: (bundle: string) => readonly string[]) {
  const bundle = mkdtempSync(path.join(dir, 'bundle-'));
  const file = path.join(bundle, 'config.json');
  writeFileSync(file, text);
  const log = path.join(bundle, 'log.json');
  const all = words?.(bundle) ?? [
    '--root',
    '/r',
    '--log',
    log,
    '--log-format',
    'json',
    'create',
    '--bundle',
    bundle,
    'id',
  ];
  const { status, stdout, stderr } = spawnSync(wrapper, all, { encoding: 'utf8', cwd: bundle });
  return { status, stdout, stderr, words: all, after: readFileSync(file, 'utf8'), log };
}

it('gives the container named agent its layers, keeps all else, and calls runc with the same words', () => {
  const before = container('agent', { [KEY]: ANNOTATION });
  const { status, stdout, stderr, words, after } = run(JSON.stringify(before));
  expect([stderr, status]).toEqual(['', 0]);
  expect(stdout.trimEnd().split('\n')).toEqual(words);
  const is = JSON.parse(after) as ReturnType<typeof config> & { linux: Json; process: Json; mounts: Json[] };
  const was = before as typeof is;
  expect(is.linux['namespaces']).toEqual([
    { type: 'pid' },
    { type: 'ipc' },
    { type: 'uts', path: '/proc/7/ns/uts' },
    { type: 'mount' },
    { type: 'network' },
    { type: 'cgroup' },
  ]);
  expect(is.linux['resources']).toEqual({
    memory: { limit: 8_589_934_592, swap: 8_589_934_592 },
    cpu: { shares: 2 },
    pids: { limit: 4096 },
  });
  expect(is.linux['maskedPaths']).toEqual(
    expect.arrayContaining(['/proc/kcore', '/proc/of-the-runtime', ...MASKED_PATHS]),
  );
  expect(is.linux['seccomp']).toEqual(was.linux['seccomp']);
  expect(is.process).toEqual({
    ...was.process,
    env: ['PATH=/usr/bin', 'HOME=/home/agent', 'TEXT=x=y'],
    rlimits: [
      { type: 'RLIMIT_CORE', hard: 1, soft: 1 },
      { type: 'RLIMIT_NOFILE', hard: 16_384, soft: 16_384 },
    ],
  });
  expect(is.mounts.map(({ destination, type }) => `${type} ${destination}`)).toEqual([
    'proc /proc',
    'tmpfs /dev',
    'bind /workspace',
    'tmpfs /tmp',
    'tmpfs /run',
    'tmpfs /dev/shm',
    'bind /run/run-claude/gw/sockets',
  ]);
  expect(is.mounts[2]?.['options']).toEqual(['rbind', 'rw', 'nosuid', 'nodev']);
  expect(is.mounts[4]?.['options']).toEqual([
    'rw',
    'nosuid',
    'nodev',
    'noexec',
    'size=16384k',
    'mode=755',
    'uid=1000',
    'gid=1001',
  ]);
});

it('passes on every other container, and every other command, without a change', () => {
  const sandbox = config({ 'io.kubernetes.cri.container-type': 'sandbox' });
  for (const text of [JSON.stringify(sandbox), JSON.stringify(container('istio-proxy'), undefined, 3)]) {
    const { status, after } = run(text);
    expect([status, after]).toEqual([0, text]);
  }
  for (const words of [['--root', '/r', 'start', 'id'], ['delete', '--force', 'id'], ['--version']]) {
    const { stdout, after } = run('not JSON', () => words);
    expect([stdout.trimEnd().split('\n'), after]).toEqual([words, 'not JSON']);
  }
});

it('a gateway keeps the network of the pod, and its resolver', () => {
  const [text = ''] = Object.values(confinementsOf([{ ...agent, network: { bridge: 'x' } }]));
  const { after } = run(JSON.stringify(container('gateway', { 'run-claude.confine.gateway': text })));
  expect(after).toContain('/run/netns/pod');
  expect(after).toContain('/etc/resolv.conf');
  expect(after).not.toContain('/proc/7/ns/ipc');
});

const changed = (change: Json): string => JSON.stringify({ ...(JSON.parse(ANNOTATION) as Json), ...change });
const agentWith = (annotation: string): string => JSON.stringify(container('agent', { [KEY]: annotation }));
const tmpfs = { path: '/tmp', kilobytes: 1, mode: '1777', noexec: false };

it.each<[string, string, RegExp]>([
  ['an agent without an annotation', JSON.stringify(container('agent')), /the pod has no annotation/],
  ['an annotation that is not JSON', agentWith('{'), /is not JSON/],
  ['an annotation that is not text', JSON.stringify(container('agent', { [KEY]: 1 })), /the pod has no annotation/],
  ['a name twice', agentWith(ANNOTATION.replace('{', '{"version":1,')), /is not JSON/],
  ['an unknown field', agentWith(changed({ privileged: true })), /has another form/],
  ['a missing field', agentWith(changed({ masked: undefined })), /has another form/],
  ['another version', agentWith(changed({ version: 2 })), /another version/],
  ['an agent with a network', agentWith(changed({ network: 'pod' })), /has no network/],
  ['an unknown network', agentWith(changed({ network: 'host' })), /unknown network/],
  ['no limit of processes', agentWith(changed({ pids: 0 })), /unknown pids/],
  ['too many files', agentWith(changed({ nofile: 2 ** 40 })), /unknown nofile/],
  [
    'a masked path outside /proc and /sys',
    agentWith(changed({ masked: ['/etc/passwd'] })),
    /unknown path in maskedPaths/,
  ],
  ['a path that leads out', agentWith(changed({ masked: ['/proc/../etc'] })), /unknown path in maskedPaths/],
  [
    'a directory with a path of the node',
    agentWith(changed({ tmpfs: [{ ...tmpfs, source: '/' }] })),
    /unknown directory/,
  ],
  ['a directory over /proc', agentWith(changed({ tmpfs: [{ ...tmpfs, path: '/proc/sys' }] })), /unknown directory/],
  ['an option in a mode', agentWith(changed({ tmpfs: [{ ...tmpfs, mode: '0,suid' }] })), /unknown directory/],
  ['a user out of range', agentWith(changed({ tmpfs: [{ ...tmpfs, uid: 2 ** 32 }] })), /unknown uid/],
  ['a directory over a claim', agentWith(changed({ tmpfs: [{ ...tmpfs, path: '/workspace' }] })), /mounted already/],
  ['a directory twice', agentWith(changed({ tmpfs: [tmpfs, tmpfs] })), /a directory twice/],
  ['a container of another program', JSON.stringify(config({})), /not a container of containerd's CRI plugin/],
  ['a configuration that is not JSON', '{"annotations":', /cannot read config\.json/],
  [
    'a number that would be changed',
    agentWith(ANNOTATION).replace('4294967295', '18446744073709551615'),
    /cannot read/,
  ],
  [
    'an annotation of another container',
    JSON.stringify(container('agent', { [GATEWAY_KEY]: ANNOTATION })),
    /has no annotation/,
  ],
  ['a configuration with a name twice', agentWith(ANNOTATION).replace('{', '{"linux":{},'), /cannot read config\.json/],
  [
    'a field that runc reads as another',
    agentWith(ANNOTATION).replace('"linux"', '"Linux":{},"linux"'),
    /both Linux and linux/,
  ],
  [
    'a field that runc reads as one that is set here',
    agentWith(ANNOTATION).replace('"namespaces"', '"Namespaces"'),
    /both Namespaces and namespaces/,
  ],
  [
    'a letter that runc reads as s',
    agentWith(ANNOTATION).replace('"maskedPaths"', '"ma\u017fkedPaths"'),
    /unknown name/,
  ],
  [
    'a mount with another spelling of /tmp',
    agentWith(ANNOTATION).replace('"/workspace"', '"/tmp/"'),
    /no plain destination/,
  ],
  ['a number out of every range', agentWith(ANNOTATION).replace('4294967295', '1e999'), /cannot read config\.json/],
  [
    'lists in lists without an end',
    agentWith(ANNOTATION).replace('{', `{"x":${'['.repeat(1e5)}`),
    /cannot read config\.json/,
  ],
  [
    'a container without a memory limit',
    agentWith(ANNOTATION).replace('"memory":{"limit":8589934592}', '"memory":{}'),
    /no memory limit/,
  ],
])('refuses %s: nothing is started, nothing is changed, containerd reads the reason', (_, text, message) => {
  const { status, stdout, stderr, after, log } = run(text);
  expect([status, stdout, after]).toEqual([1, '', text]);
  expect(stderr).toMatch(message);
  const line = JSON.parse(readFileSync(log, 'utf8')) as Json;
  expect(line).toMatchObject({ level: 'error', msg: stderr.trimEnd() });
});

it.each<[string, (bundle: string) => readonly string[]]>([
  ['an unknown global option', (bundle) => ['--new', 'x', 'create', '--bundle', bundle, 'id']],
  ['a short option', (bundle) => ['create', '-b', bundle, 'id']],
  ['two bundles', (bundle) => ['create', '--bundle', '/nowhere', '--bundle', bundle, 'id']],
  ['an option behind the ID', (bundle) => ['create', 'id', '--bundle', bundle]],
  ['a bundle that does not exist', () => ['create', '--bundle', '/nowhere', 'id']],
  ['a checkpoint', (bundle) => ['restore', '--bundle', bundle, 'id']],
  ['no command', () => ['--root', '/r']],
  ['a question for the version before a command', (bundle) => ['--version', 'create', '--bundle', bundle, 'id']],
  ['an empty bundle', () => ['create', '--bundle=', 'id']],
  ['an option of run that is not known', (bundle) => ['run', '--detach', '--bundle', bundle, 'id']],
])('refuses %s', (_, words) => {
  const { status, stdout } = run(agentWith(ANNOTATION), words);
  expect([status, stdout]).toEqual([1, '']);
});

it('refuses a config.json that is a link, and finds the bundle in the working directory', () => {
  const bundle = path.join(dir, 'linked');
  mkdirSync(bundle);
  const target = path.join(dir, 'elsewhere.json');
  writeFileSync(target, agentWith(ANNOTATION));
  execFileSync('ln', ['-s', target, path.join(bundle, 'config.json')]);
  expect(spawnSync(wrapper, ['create', '--bundle', bundle, 'id']).status).toBe(1);
  expect(readFileSync(target, 'utf8')).toBe(agentWith(ANNOTATION));
  const { after } = run(agentWith(ANNOTATION), () => ['create', 'id']);
  expect(after).not.toContain('/run/netns/pod');
});

it.each<[string, (bundle: string) => readonly string[]]>([
  ['--bundle=DIR', (bundle) => ['create', `--bundle=${bundle}`, 'id']],
  ['a path that is not absolute', () => ['create', '--bundle', '.', 'id']],
  ['a value that looks like an option', (bundle) => ['create', '--pid-file', '--bundle', '--bundle', bundle, 'id']],
  ['run', (bundle) => ['run', '--bundle', bundle, 'id']],
])('confines the agent of a bundle named by %s', (_, words) => {
  const { status, after, words: all, stdout } = run(agentWith(ANNOTATION), words);
  expect([status, stdout.trimEnd().split('\n')]).toEqual([0, all]);
  expect(after).not.toContain('/run/netns/pod');
});

it('a namespace of its own has no other field, in any spelling', () => {
  const text = agentWith(ANNOTATION).replace('"path":"/run/netns/pod"', '"path":"/x","Path":"/run/netns/pod"');
  const { status, after } = run(text);
  expect([status, after]).toEqual([0, expect.not.stringContaining('/run/netns/pod')]);
});

it('refuses a config.json that is a pipe, without waiting for it', () => {
  const bundle = path.join(dir, 'pipe');
  mkdirSync(bundle);
  execFileSync('mkfifo', [path.join(bundle, 'config.json')]);
  const { status, stderr } = spawnSync(wrapper, ['create', '--bundle', bundle, 'id'], {
    encoding: 'utf8',
    timeout: 5000,
  });
  expect([status, stderr]).toEqual([1, expect.stringMatching(/is not a file/)]);
});

it('a volume has nosuid and nodev whatever its own options are', () => {
  const before = container('agent', { [KEY]: ANNOTATION }) as { mounts: Json[] };
  const options = ['rbind', 'nosuid', 'suid', 'dev', 'rw'];
  const mounts = [{ destination: '/data', type: 'bind', source: '/claims/data', options }, ...before.mounts];
  const { after } = run(JSON.stringify({ ...before, mounts }));
  const is = (JSON.parse(after) as { mounts: Json[] }).mounts.find(({ destination }) => destination === '/data');
  expect(is?.['options']).toEqual(['rbind', 'nosuid', 'rw', 'nodev']);
});
