import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { readConfigFile } from '../../../../src/core/config/config-file.ts';
import { agentSpec } from '../../../../src/engines/engine/hardening/hardened.ts';
import { readSeccompProfile } from '../../../../src/engines/engine/hardening/seccomp.ts';
import { jobBundle } from '../../../../src/engines/jobs/bundle.ts';
import { runtimeSaid } from '../../../../src/engines/jobs/job-container.ts';
import { EXIT_MARK } from '../../../../src/engines/jobs/node-script.ts';
import { readWord } from '../../../../src/engines/jobs/read-word.ts';
import { openSessionDir, openSharedDir, openSharedVolumes } from '../../../../src/engines/jobs/session-dir.ts';
import { whyEnded } from '../../../../src/engines/jobs/session-job.ts';
import { removeSharedImage, sessionOfRest, sharedObjects } from '../../../../src/engines/jobs/shared-objects.ts';
import { stateIn, submission } from '../../../../src/engines/jobs/slurm.ts';
import { parseJobTarget, targetText } from '../../../../src/engines/jobs/target.ts';
import type { OciConfig } from '../../../../src/engines/render/oci-config.ts';
import { gatewayContainer } from '../../../../src/network/gateway/gateway-container.ts';

const SESSION = '261123-101500-abc';
const dirs: string[] = [];

afterEach(() => {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});

it('reads what --on names, and refuses what is not a scheduler or a queue', () => {
  expect(parseJobTarget('slurm:short')).toEqual({ scheduler: 'slurm', queue: 'short' });
  expect(parseJobTarget('big')).toBeUndefined();
  expect(targetText({ scheduler: 'slurm', queue: 'short' })).toBe('slurm:short');
  expect(() => parseJobTarget('pbs:short')).toThrow("'pbs' is not a scheduler");
  for (const queue of ['', '-x', 'a b', '--wrap=id']) expect(() => parseJobTarget(`slurm:${queue}`)).toThrow('queue');
});

it('submits one task with the limits of the session, and never twice', () => {
  const job = { name: 'n', queue: 'short', script: '/s/job.sh', args: ['/s'], log: '/s/log' };
  const words = submission({ ...job, memoryMb: 4096, cpus: 1.5, timeMs: 90_001 });
  expect(words).toEqual(
    expect.arrayContaining(['--mem=4096M', '--cpus-per-task=2', '--time=2', '--no-requeue', '--chdir=/']),
  );
  expect(words.slice(-2)).toEqual(['/s/job.sh', '/s']);
  expect(submission({ ...job, memoryMb: 1, cpus: 0, timeMs: undefined }).join(' ')).not.toMatch(/--time|--cpus/);
});

it.each([
  ['JobId=1 JobState=PENDING Reason=Priority NodeList=', { kind: 'waiting', why: 'Priority' }],
  ['JobId=1 JobState=RUNNING Reason=None BatchHost=n1', { kind: 'running', machine: 'n1' }],
  ['JobId=1 JobState=NODE_FAIL Reason=NodeDown', { kind: 'ended', why: 'NODE_FAIL' }],
  ['JobId=1 JobState=CANCELLED Reason=None', { kind: 'ended', why: 'CANCELLED' }],
  ['', { kind: 'ended', why: 'UNKNOWN' }],
])('reads the state of %s', (line, state) => {
  expect(stateIn(line)).toEqual(state);
});

it.each([
  [{ kind: 'ended', why: 'COMPLETED' }, 'signal', 'TIMEOUT'],
  [{ kind: 'ended', why: 'CANCELLED' }, 'signal', 'CANCELLED'],
  [{ kind: 'ended', why: 'COMPLETED' }, 'alone', 'it had no sign of its command for 60 seconds'],
  [{ kind: 'ended', why: 'NODE_FAIL' }, undefined, 'NODE_FAIL'],
  [{ kind: 'waiting', why: 'BeginTime' }, 'signal', 'REQUEUED'],
  [{ kind: 'running', machine: 'n1' }, undefined, undefined],
  [undefined, undefined, undefined],
] as const)('says why a job in state %o ended after %s: %s', (state, ending, why) => {
  expect(whyEnded(state, ending, 60)).toBe(why);
});

it("shows the runtime's last line, without control characters and up to a limit", () => {
  const line = 'time="now" level=error msg="no \u001b[31mmount"';
  expect(runtimeSaid(`a warning\n${line}\r\n${EXIT_MARK}1\n`)).toBe('time="now" level=error msg="no  [31mmount"');
  expect(runtimeSaid(`${'x'.repeat(900)}\n${EXIT_MARK}1\n`)).toHaveLength(500);
  expect(runtimeSaid(`${EXIT_MARK}1\n`)).toBe('');
});

const place = { rootfs: '/r', arch: 'amd64', volumes: {}, overlays: {}, uid: 1000, gid: 100 };

async function agent() {
  return agentSpec({
    sessionId: SESSION,
    image: 'i',
    seccomp: await readSeccompProfile(),
    user: '1000:1000',
    argv: ['true'],
    forwards: [],
    env: {},
    workdir: '/workspace',
    mounts: [{ kind: 'volume', volume: 'w', target: '/workspace', readonly: false }],
    network: 'none',
    limits: { memoryMb: 512, cpus: 1, pids: 99, tmpMb: 32 },
    tty: false,
    stdin: 'none',
  });
}

it('makes a bundle for an ordinary user: one uid, no capability, a namespace without a network', async () => {
  const overlays = { w: 'nosuid,nodev,lowerdir=/l,upperdir=/u,workdir=/w,userxattr' };
  const made = jobBundle(await agent(), { ...place, overlays }, { isProved: true }) as OciConfig & {
    readonly linux: { readonly uidMappings: unknown };
  };
  expect(made.process.user).toEqual({ uid: 0, gid: 0 });
  expect(made.linux.uidMappings).toEqual([{ containerID: 0, hostID: 1000, size: 1 }]);
  expect(made.linux.namespaces.map(({ type }) => type).sort()).toEqual(
    ['cgroup', 'ipc', 'mount', 'network', 'pid', 'user', 'uts'].sort(),
  );
  expect(made.process.capabilities.bounding).toEqual([]);
  expect(made.process.rlimits).toContainEqual({ type: 'RLIMIT_NPROC', hard: 99, soft: 99 });
  expect(made.linux).not.toHaveProperty('resources');
  expect(made.mounts.find(({ destination }) => destination === '/workspace')).toEqual({
    destination: '/workspace',
    type: 'overlay',
    source: 'overlay',
    options: ['nosuid', 'nodev', 'lowerdir=/l', 'upperdir=/u', 'workdir=/w', 'userxattr'],
  });
  expect(made.process.args[2]).toContain('no-network');
});

it("gives the gateway the node's network, and no setting or device of the node", async () => {
  const seccomp = await readSeccompProfile();
  const spec = gatewayContainer({ sessionId: SESSION, image: 'i', seccomp, volume: 'g', network: 'n', companions: [] });
  const made = jobBundle(spec, { ...place, volumes: { g: '/g' } }, { isProved: true }) as OciConfig;
  expect(made.linux.namespaces.map(({ type }) => type)).not.toContain('network');
  expect(made.mounts.map(({ destination }) => destination)).not.toContain('/sys');
  expect(made.linux.sysctl).toBeUndefined();
  expect(made.process.args[2]).not.toContain('kernel-setting');
  expect(made.process.args[2]).toContain('read-only-root');
});

it('reads [slurm], and refuses a directory that the mount options cannot have', () => {
  const { slurm } = readConfigFile('[slurm]\ndirectory = "/shared/me"\nwithout-layer = ["swap"]\n', 'config.toml');
  expect(slurm).toEqual({ directory: '/shared/me', scratch: '/tmp', patience: 60, withoutLayers: ['swap'] });
  for (const bad of ['relative', '/a b', '/a:b', '/a,b'])
    expect(() => readConfigFile(`[slurm]\ndirectory = "${bad}"\n`, 'config.toml')).toThrow('absolute path');
});

it('keeps the volumes of a session by name, without the sockets of its gateway', () => {
  const shared = mkdtempSync(path.join(tmpdir(), 'run-claude-jobs-'));
  dirs.push(shared);
  const session = openSessionDir(shared, SESSION);
  expect(session.lastRun()).toBe(0);
  session.makeRun(1);
  session.addVolume({ name: `run-claude-${SESSION}-layer`, labels: { a: 'b' } });
  session.addVolume({ name: `run-claude-${SESSION}-gw`, labels: {} });
  const first = session.volume(`run-claude-${SESSION}-layer`);
  expect(first?.labels).toEqual({ a: 'b' });
  expect(session.lastRun()).toBe(1);
  session.removeVolume(`run-claude-${SESSION}-layer`);
  session.addVolume({ name: `run-claude-${SESSION}-layer`, labels: {} });
  expect(session.volume(`run-claude-${SESSION}-layer`)?.place).not.toBe(first?.place);
  expect(session.volumes()).toHaveLength(2);
});

it('mounts a directory before what is below it', async () => {
  const seccomp = await readSeccompProfile();
  const spec = gatewayContainer({ sessionId: SESSION, image: 'i', seccomp, volume: 'g', network: 'n', companions: [] });
  const made = jobBundle(spec, { ...place, volumes: { g: '/g' } }, { isProved: true }) as OciConfig;
  const targets = made.mounts.map(({ destination }) => destination);
  expect(targets.indexOf('/run')).toBeLessThan(targets.indexOf('/run/run-claude/gw'));
});

it('refuses a shared directory that other users may change', () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'rc-jobs-'));
  dirs.push(dir);
  const shared = path.join(dir, 'new');
  const { uid } = statSync(dir);
  openSharedDir(shared, uid);
  expect(statSync(shared).mode & 0o777).toBe(0o700);
  expect(() => openSharedDir(shared, uid + 1)).toThrow('other users may change');
  chmodSync(shared, 0o770);
  expect(() => openSharedDir(shared, uid)).toThrow('other users may change');
});

it('refuses names in the shared directory that are paths or options', () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'rc-jobs-'));
  dirs.push(dir);
  const session = openSessionDir(dir, SESSION);
  const volume = `run-claude-${SESSION}-layer`;
  session.addVolume({ name: volume, labels: {} });
  session.setJob('12');
  expect(session.job()).toBe('12');
  writeFileSync(path.join(dir, 'outside'), '');
  writeFileSync(path.join(session.dir, 'volumes', `${volume}.json`), '{"place":"../../../outside","labels":{}}');
  expect(() => session.removeVolume(volume)).toThrow('a name that run-claude did not write');
  expect(statSync(path.join(dir, 'outside')).isFile()).toBe(true);
  writeFileSync(path.join(session.dir, 'job'), '--wrap=id');
  expect(() => session.job()).toThrow('a name that run-claude did not write');
});

it("lists for gc what is run-claude's and unused, through no link, and removes nothing else", () => {
  const shared = mkdtempSync(path.join(tmpdir(), 'rc-jobs-'));
  dirs.push(shared);
  const now = Date.now();
  const ids = ['261123-101500-kbc', '261123-101500-kbd', '261123-101500-kbf'] as const;
  for (const [at, id] of ids.entries()) {
    const session = openSessionDir(shared, id);
    session.setOwner(at === 1 ? 'another' : 'me');
    session.makeRun(1);
    if (at === 0) session.addVolume({ name: `run-claude-${id}-layer`, labels: {} });
  }
  symlinkSync(path.join(shared, 'sessions', ids[0]), path.join(shared, 'sessions', '261123-101500-kbg'));
  mkdirSync(path.join(shared, 'sessions', 'foreign'));
  const bases = openSharedVolumes(shared);
  bases.add({ name: 'run-claude-base-0123', labels: {} });
  bases.add({ name: 'run-claude-base-4567', labels: {} });
  const [old, fresh] = ['0'.repeat(32), '1'.repeat(32)];
  for (const key of [old, fresh]) mkdirSync(path.join(shared, 'images', key), { recursive: true });
  const past = new Date(now - 31 * 86_400_000);
  for (const one of ['bases/run-claude-base-0123.json', `images/${old}`])
    utimesSync(path.join(shared, one), past, past);
  const names = sharedObjects(shared, 'me', now).map(({ name }) => name);
  expect(names.toSorted()).toEqual(
    [
      `run-claude-${ids[0]}-layer`,
      `run-claude-job-${ids[2]}`,
      'run-claude-base-0123',
      `run-claude-job-image:${old}`,
    ].toSorted(),
  );
  expect(sessionOfRest(`run-claude-job-${ids[2]}`)).toBe(ids[2]);
  expect(sessionOfRest('run-claude-job-..')).toBeUndefined();
  expect(removeSharedImage(shared, 'run-claude-job-image:../sessions')).toBe(false);
  expect(removeSharedImage(shared, `run-claude-job-image:${old}`)).toBe(true);
  expect(existsSync(path.join(shared, 'images', old))).toBe(false);
  expect(existsSync(path.join(shared, 'images', fresh))).toBe(true);
  rmSync(path.join(shared, 'sessions'), { recursive: true });
  symlinkSync('/', path.join(shared, 'sessions'));
  expect(sharedObjects(shared, 'me', now)).toHaveLength(1);
});

it('reads a short word of a node, through no link and without waiting for a pipe', () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'rc-jobs-'));
  dirs.push(dir);
  const at = (name: string): string => path.join(dir, name);
  writeFileSync(at('word'), 'n1 \u001b[31mrunc\n');
  expect(readWord(at('word'))).toBe('n1  [31mrunc');
  symlinkSync(at('word'), at('link'));
  expect(readWord(at('link'))).toBeUndefined();
  execFileSync('mkfifo', [at('pipe')]);
  expect(readWord(at('pipe'))).toBe('');
  expect(readWord(at('none'))).toBeUndefined();
});
