// Processor time and memory of a session's parts, for bench/scale.mjs: the command, the engine's daemon, and each
// container, read from /proc and the control groups while it runs. Linux only.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';

/** USER_HZ: the unit of the times in /proc, the same on every Linux (proc(5)). */
const TICK_MS = 10;
const EVERY_MS = 50;
const DAEMONS = /^(dockerd|containerd)$/;

/** @param {string} file @returns {string} '' where it no longer exists */
function textOf(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** Processor time of the whole machine since it started, in milliseconds; idle and stolen time do not count. */
export function machineMs() {
  const [user = 0, nice = 0, system = 0, , , irq = 0, soft = 0] = textOf('/proc/stat')
    .split(/\s+/)
    .slice(1, 8)
    .map(Number);
  return (user + nice + system + irq + soft) * TICK_MS;
}

/** Of a process and of its children that have ended, in milliseconds. @param {number} pid */
function processMs(pid) {
  const text = textOf(`/proc/${pid}/stat`);
  // The name is in parentheses, and may have spaces.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at] ?? 0), 0) * TICK_MS;
}

/** The daemons of Docker; none with Podman. @returns {number[]} */
function daemonPids() {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && DAEMONS.test(textOf(`/proc/${name}/comm`).trim()))
    .map(Number);
}

/** Where the control groups of Docker's containers are: version 1, version 2 with cgroupfs, with systemd. */
const GROUPS = {
  time: [
    ['/sys/fs/cgroup/cpuacct/docker/ID', 'cpuacct.usage', /(\d+)/, 1e6],
    ['/sys/fs/cgroup/docker/ID', 'cpu.stat', /usage_usec (\d+)/, 1e3],
    ['/sys/fs/cgroup/system.slice/docker-ID.scope', 'cpu.stat', /usage_usec (\d+)/, 1e3],
  ],
  memory: [
    ['/sys/fs/cgroup/memory/docker/ID', 'memory.stat', /total_rss (\d+)/, 1 << 20],
    ['/sys/fs/cgroup/docker/ID', 'memory.stat', /anon (\d+)/, 1 << 20],
    ['/sys/fs/cgroup/system.slice/docker-ID.scope', 'memory.stat', /anon (\d+)/, 1 << 20],
  ],
};

/** @param {'time' | 'memory'} what @param {string} id @returns {number} milliseconds or MB; 0 where the group no longer exists */
function ofContainer(what, id) {
  for (const [dir, file, value, unit] of /** @type {[string, string, RegExp, number][]} */ (GROUPS[what])) {
    const at = dir.replace('ID', id);
    if (existsSync(at)) return Number(value.exec(textOf(path.join(at, file)))?.[1] ?? 0) / unit;
  }
  return 0;
}

/** Processors that other work on this machine uses, as an average of two seconds. */
export async function otherWork() {
  const [before, start] = [machineMs(), performance.now()];
  await new Promise((done) => setTimeout(done, 2000));
  return (machineMs() - before) / (performance.now() - start);
}

/** Above this share of the processors the machine counts as busy, and a session's own parts are summed instead. */
export const QUIET_SHARE = 0.1;

/**
 * @typedef {object} Part
 * @property {number} cpuMs @property {number} peakMb memory without the page cache
 *
 * @typedef {object} Watched
 * @property {import('./scale-model.mjs').Profile} profile
 * @property {Record<string, Part>} parts command, daemon, and the containers by role
 * @property {number} cpuMs of all parts @property {number} machineMs of the machine, without other work
 */

/**
 * Names of containers as they start, for as long as it is not stopped.
 * @returns {{ started: Map<string, string>, stop: () => void }} by id: the container's name
 */
function watchContainers() {
  /** @type {Map<string, string>} */
  const started = new Map();
  const words = ['events', '--filter', 'type=container', '--filter', 'event=start'];
  const child = spawn('docker', [...words, '--format', '{{.ID}} {{.Actor.Attributes.name}}'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  child.stdout.setEncoding('utf8').on('data', (/** @type {string} */ text) => {
    for (const [, id = '', name = ''] of text.matchAll(/^(\S+) (\S+)$/gm)) started.set(id, name);
  });
  return { started, stop: () => void child.kill() };
}

/**
 * Runs a command and reads what it, the daemon and its containers use, until a second after its end.
 * @param {() => import('node:child_process').ChildProcess} begin
 * @param {{ other: number, isOwn: (container: string) => boolean }} options processors that other work uses; whether a
 *   container is of this command
 * @returns {Promise<Watched & { ms: number, status: number | null }>}
 */
export async function watch(begin, { other, isOwn }) {
  const containers = watchContainers();
  await new Promise((done) => setTimeout(done, 300));
  const daemons = daemonPids();
  const daemonMs = () => daemons.reduce((sum, pid) => sum + processMs(pid), 0);
  const [startMs, machineAt, daemonAt] = [performance.now(), machineMs(), daemonMs()];
  const child = begin();
  /** @type {Map<string, Part>} */
  const byId = new Map();
  const command = { cpuMs: 0, peakMb: 0 };
  /** @type {{ at: number, machine: number, command: number, daemon: number, byId: Map<string, number> }[]} */
  const samples = [];
  const sample = () => {
    const memory = /VmHWM:\s+(\d+)/.exec(textOf(`/proc/${child.pid}/status`));
    command.cpuMs = Math.max(command.cpuMs, processMs(child.pid ?? 0));
    command.peakMb = Math.max(command.peakMb, Number(memory?.[1] ?? 0) / 1024);
    for (const id of containers.started.keys()) {
      const part = byId.get(id) ?? { cpuMs: 0, peakMb: 0 };
      byId.set(id, part);
      part.cpuMs = Math.max(part.cpuMs, ofContainer('time', id));
      part.peakMb = Math.max(part.peakMb, ofContainer('memory', id));
    }
    const times = new Map([...byId].map(([id, { cpuMs }]) => [id, cpuMs]));
    const at = performance.now() - startMs;
    samples.push({
      at,
      machine: machineMs() - machineAt,
      command: command.cpuMs,
      daemon: daemonMs() - daemonAt,
      byId: times,
    });
  };
  sample();
  const timer = setInterval(sample, EVERY_MS);
  /** @type {number | null} */
  const status = await new Promise((done, failed) => child.on('error', failed).on('close', done));
  const ms = performance.now() - startMs;
  await new Promise((done) => setTimeout(done, 1000));
  clearInterval(timer);
  sample();
  containers.stop();

  const own = [...containers.started].filter(([, name]) => isOwn(name));
  /** @param {typeof samples[number]} one */
  const sumOf = (one) => own.reduce((sum, [id]) => sum + (one.byId.get(id) ?? 0), one.command + one.daemon);
  const isQuiet = other < QUIET_SHARE * availableParallelism();
  const slices = samples.slice(1).map((one, index) => {
    const before = /** @type {typeof one} */ (samples[index]);
    const tookMs = Math.max(1, one.at - before.at);
    const used = isQuiet ? (one.machine - before.machine) / tookMs - other : (sumOf(one) - sumOf(before)) / tookMs;
    return { ms: tookMs, used: Math.min(Math.max(0, used), availableParallelism()) };
  });
  const last = /** @type {typeof samples[number]} */ (samples.at(-1));
  /** @type {Record<string, Part>} */
  const parts = { command, daemon: { cpuMs: last.daemon, peakMb: 0 } };
  for (const [id, name] of own) {
    const role = name.replace(/^run-claude-\d+-\d+-\w+-?/, '') || 'agent';
    const part = byId.get(id) ?? { cpuMs: 0, peakMb: 0 };
    const known = parts[role] ?? { cpuMs: 0, peakMb: 0 };
    parts[role] = { cpuMs: known.cpuMs + part.cpuMs, peakMb: Math.max(known.peakMb, part.peakMb) };
  }
  const profile = { slices, endsAtMs: Math.min(ms, last.at) };
  return { profile, parts, cpuMs: sumOf(last), machineMs: last.machine - other * last.at, ms, status };
}
