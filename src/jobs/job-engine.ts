import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { refuseWeaker } from '../engine/container.ts';
import { taskSpec } from '../engine/hardening/hardened.ts';
import { isProved, weakerIn, withProof } from '../engine/hardening/proof.ts';
import { readSeccompProfile } from '../engine/hardening/seccomp.ts';
import { splitOutput } from '../engine/streams.ts';
import { RunClaudeError, usageError } from '../errors.ts';
import { makePrivateDir } from '../store/record.ts';
import type { Container, ContainerSpec, Engine, EngineFacts, FoundObject } from '../types/engine.ts';
import type { Tell } from '../types/event.ts';
import { jobBundle } from './bundle.ts';
import { EXIT_MARK, RESTORE_BUNDLE, RESTORE_PROGRAM, SAVE_BUNDLE, SAVE_PROGRAM } from './node-script.ts';
import { rootFiles } from './root-files.ts';
import type { AttachedProgram, Scheduler } from './scheduler.ts';
import { openSessionDir, openSharedDir, openSharedVolumes, type SessionDir } from './session-dir.ts';
import { type JobLimits, openSessionJob, type SessionJob } from './session-job.ts';
import { type JobTarget, targetText } from './target.ts';

export interface JobEngineOptions {
  readonly scheduler: Scheduler;
  readonly target: JobTarget;
  /** The user's own engine: images are built there. */
  readonly local: Engine;
  /** A directory that this machine and the nodes share. */
  readonly shared: string;
  /** A directory of each node's own disk. */
  readonly scratch: string;
  readonly uid: number;
  readonly gid: number;
  readonly limits: JobLimits;
  readonly accepted: readonly string[];
  readonly patienceSeconds: number;
  readonly tell: Tell;
  readonly signal: AbortSignal | undefined;
}

/**
 * An engine whose containers run in jobs of a scheduler, one job for each session. Images are those of the user's own
 * engine, unpacked once in the shared directory. The volumes of a session are directories of the node; the job saves them
 * when it ends, and the next job of the session unpacks them.
 */
export function openJobEngine(options: JobEngineOptions): Engine {
  const { local, shared, target, scheduler } = options;
  openSharedDir(shared, options.uid);
  const jobs = new Map<string, SessionJob>();
  const bases = openSharedVolumes(shared);
  const sessionOf = (id: string): SessionDir => openSessionDir(shared, id);
  const jobOf = (sessionId: string): SessionJob => {
    const known = jobs.get(sessionId);
    if (known !== undefined) return known;
    const job = openSessionJob({
      ...options,
      session: sessionOf(sessionId),
      sessionId,
      ownBundles: (runDir, work) => writeOwnBundles(options, lastImage, { runDir, work, sessionId }),
    });
    jobs.set(sessionId, job);
    return job;
  };
  let lastImage = '';
  const containers = new Map<string, ContainerSpec>();
  const filled = new Map<string, string>();
  return {
    ...imagesOf(local),
    facts: jobFacts(local.facts, scheduler.title, target),
    async create(spec) {
      lastImage = spec.image;
      refuseSpec(spec, target);
      const job = jobOf(spec.sessionId);
      const container = await createInJob(spec, { options, job, session: sessionOf(spec.sessionId), bases, filled });
      containers.set(container.id, spec);
      return container;
    },
    find: async () => undefined,
    startInside: async () => {
      throw refused('a command in its session', target);
    },
    async createVolume(volume) {
      if (bases.isShared(volume.name)) return bases.add(volume);
      const session = sessionIdIn(volume.name, volume.labels);
      sessionOf(session).addVolume(volume);
    },
    async findVolume(name) {
      if (bases.isShared(name)) {
        const labels = bases.labels(name);
        return labels && { mountpoint: bases.dirOf(name), labels };
      }
      const sessionId = sessionIdIn(name);
      const found = sessionOf(sessionId).volume(name);
      return found && { mountpoint: placeOf(jobOf(sessionId), found.place), labels: found.labels };
    },
    async removeVolume(name) {
      if (bases.isShared(name)) return bases.remove(name);
      const session = sessionOf(sessionIdIn(name));
      session.removeVolume(name);
      if (session.volumes().length === 0 && !jobs.has(sessionIdIn(name))) session.remove();
    },
    // A container with a network shares the node's: there is nothing to make.
    createNetwork: async () => undefined,
    removeNetwork: async () => undefined,
    list: async (sessionId) =>
      sessionId === undefined
        ? []
        : sessionOf(sessionId)
            .volumes()
            .map((name) => volumeObject(name, sessionId)),
    async putArchive(id, directory, tar) {
      const spec = containers.get(id);
      if (spec === undefined) throw new Error('an archive is put into a container that was created');
      const argv = ['/bin/tar', '--numeric-owner', '--same-owner', '--same-permissions', '-C', directory, '-xf', '-'];
      const capabilities = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID'];
      const parts = { user: '0:0', role: 'task', network: 'none', tty: false, stdin: 'stream' } as const;
      const job = jobOf(spec.sessionId);
      const unpacking: ContainerSpec = { ...spec, ...parts, name: `${spec.name}-tar`, capabilities, argv };
      const container = await createInJob(unpacking, {
        options,
        job,
        session: sessionOf(spec.sessionId),
        bases,
        filled,
      });
      let errors = '';
      container.stderr.on('data', (chunk: Buffer) => {
        errors = (errors + chunk.toString('utf8')).slice(-500);
      });
      container.stdout.resume();
      try {
        await container.start();
        const streamed = pipeline(tar, container.stdin as NodeJS.WritableStream).catch(() => undefined);
        const status = await container.wait();
        await streamed;
        if (status !== 0)
          throw new RunClaudeError('PLACE_FAILED', `the files could not be copied into the job: ${errors.trim()}`);
      } finally {
        await container.remove();
      }
    },
    async close() {
      await Promise.all([...jobs.values()].map((job) => job.close()));
      await local.close();
    },
  };
}

function imagesOf(local: Engine) {
  return {
    hasImage: local.hasImage,
    nameImage: local.nameImage,
    removeImage: local.removeImage,
    buildImage: local.buildImage,
    importImage: local.importImage,
    pullImage: local.pullImage,
    imageLabel: local.imageLabel,
    imageFacts: local.imageFacts,
  };
}

/** What a plan needs to know. Init proves the layers in each container. */
function jobFacts(local: EngineFacts, title: string, target: JobTarget): EngineFacts {
  return {
    kind: 'docker',
    name: `${title} (${target.queue})`,
    version: title,
    apiVersion: '',
    endpoint: targetText(target),
    os: 'linux',
    arch: local.arch,
    kernel: '',
    local: false,
    rootless: true,
    usernsRemap: false,
    hasOneUser: true,
    cgroupVersion: 2,
    seccomp: true,
    memoryLimit: true,
    swapLimit: true,
    pidsLimit: true,
    cpuLimit: true,
    runtimes: [],
    dataRoot: '',
  };
}

function refuseSpec(spec: ContainerSpec, target: JobTarget): void {
  if (spec.tty) throw refused('a session on a terminal', target);
  if (spec.role === 'companion') throw refused('a program beside the agent', target);
  if (spec.mounts.some(({ kind }) => kind === 'bind')) throw refused('a directory of this machine', target);
}

function refused(what: string, target: JobTarget): RunClaudeError {
  return usageError(`--on ${targetText(target)} does not carry ${what}`, 'Run it on an engine: leave --on out.');
}

/** Names of volumes of a session have its id in them. */
function sessionIdIn(name: string, labels: Readonly<Record<string, string>> = {}): string {
  const id = labels['run-claude.session'] ?? /(\d{6}-\d{6}-[2-9b-z]{3})/.exec(name)?.[1];
  if (id === undefined) throw new RunClaudeError('USAGE', `a job has no volume like ${name}`, { status: 2 });
  return id;
}

function volumeObject(name: string, sessionId: string): FoundObject {
  return {
    kind: 'volume',
    id: name,
    name,
    labels: { 'run-claude.session': sessionId },
    running: false,
    createdMs: 0,
  };
}

const placeOf = (job: SessionJob, place: string): string => path.join(job.work(), 'volumes', place);

interface InJob {
  /** What a fresh volume starts with, a directory of the image, by its name: any container may be the first to mount it. */
  readonly filled: Map<string, string>;
  readonly options: JobEngineOptions;
  readonly job: SessionJob;
  readonly session: SessionDir;
  readonly bases: ReturnType<typeof openSharedVolumes>;
}

/** A container of a job: its bundle is written, and a program beside the job runs it with these streams. */
async function createInJob(spec: ContainerSpec, inJob: InJob): Promise<Container> {
  const { options, job } = inJob;
  const rootfs = await rootFiles(options.local, spec.image, options);
  for (const mount of spec.mounts)
    if (mount.kind === 'volume' && mount.fill === true) inJob.filled.set(mount.volume, path.join(rootfs, mount.target));
  const id = `${spec.name}-${randomBytes(4).toString('hex')}`;
  const connection = new PassThrough();
  const proved = isProved(withProof(spec));
  const output = splitOutput(connection, { tty: true, headLines: proved ? 1 : 0 });
  const stderr = new PassThrough({ highWaterMark: 1 << 20 });
  const stdin = spec.stdin === 'stream' ? new PassThrough() : undefined;
  let program: AttachedProgram | undefined;
  let status: Promise<number | undefined> | undefined;
  let markStarted: () => void = () => undefined;
  const started = new Promise<void>((resolve) => {
    markStarted = resolve;
  });
  const words = (action: string, ...more: string[]): string[] => [action, job.runDir(), job.work(), id, id, ...more];
  const end = async (signal: string): Promise<void> => {
    if (program === undefined) return;
    const killing = await job.start(words('kill', signal));
    killing.stdin.end();
    await killing.ended;
  };
  let isEnded = false;
  let said = '';
  const tail = (): string => said.trim().split('\n').at(-1) ?? '';
  return {
    id,
    name: spec.name,
    stdout: output.stdout,
    stderr,
    stdin,
    async start() {
      writeBundle(spec, { ...inJob, rootfs, id });
      program = await job.start(words('run'));
      program.stderr.on('data', (chunk: Buffer) => {
        said = (said + chunk.toString('latin1')).slice(-1000);
      });
      status = statusIn(program.stderr, stderr);
      void program.ended.then(() => {
        isEnded = true;
      });
      (program.stdout as NodeJS.ReadableStream).pipe(connection);
      if (stdin === undefined) program.stdin.end();
      else stdin.pipe(program.stdin);
      markStarted();
      if (!proved) return;
      const head = await output.head;
      if (head === '' && (await status) === undefined) throw await job.lost(tail());
      refuseWeaker(weakerIn(head), spec.name);
    },
    async wait() {
      await started;
      const value = await status;
      if (value !== undefined) return value;
      throw await job.lost(tail());
    },
    kill: async (signal) => (isEnded ? undefined : end(signal)),
    pause: async () => {
      throw refused('a pause of the agent', options.target);
    },
    unpause: async () => undefined,
    resize: async () => undefined,
    exec: async () => {
      throw refused('a command in a container', options.target);
    },
    detach: () => program?.close(),
    async remove() {
      stdin?.end();
      if (program === undefined || isEnded) return;
      await end('KILL').catch(() => undefined);
      program.close();
    },
  };
}

/** What a program wrote to its error output, without the last line, which is the node's: the exit status. */
async function statusIn(from: NodeJS.ReadableStream, to: PassThrough): Promise<number | undefined> {
  let held = '';
  for await (const chunk of from) {
    held += (chunk as Buffer).toString('latin1');
    const mark = held.lastIndexOf(EXIT_MARK[0] as string);
    const passed = mark === -1 ? held : held.slice(0, mark);
    // A reader that is slow, or absent, must not stop the program.
    if (!to.writableNeedDrain) to.write(Buffer.from(passed, 'latin1'));
    held = held.slice(passed.length);
  }
  const found = held.startsWith(EXIT_MARK) ? /^\d{1,3}/.exec(held.slice(EXIT_MARK.length)) : undefined;
  to.end();
  return found === undefined || found === null ? undefined : Number(found[0]);
}

interface Bundling extends InJob {
  readonly rootfs: string;
  readonly id: string;
}

function writeBundle(spec: ContainerSpec, { options, job, session, bases, filled, rootfs, id }: Bundling): void {
  const { uid, gid, local } = options;
  const volumes: Record<string, string> = {};
  const overlays: Record<string, string> = {};
  const places: string[] = [];
  for (const mount of spec.mounts) {
    if (mount.kind !== 'volume') continue;
    if (bases.isShared(mount.volume)) {
      volumes[mount.volume] = bases.dirOf(mount.volume);
      continue;
    }
    const known = session.volume(mount.volume);
    if (known === undefined) throw new RunClaudeError('WORKSPACE_GONE', `the volume ${mount.volume} no longer exists`);
    if (known.overlay !== undefined) {
      overlays[mount.volume] = known.overlay;
      continue;
    }
    volumes[mount.volume] = placeOf(job, known.place);
    places.push(`${known.place} ${filled.get(mount.volume) ?? '-'}`);
  }
  const place = { rootfs, arch: local.facts.arch, volumes, overlays, uid, gid };
  const config = jobBundle(spec, place, { isProved: true });
  const bundle = path.join(job.runDir(), 'bundles', id);
  makePrivateDir(bundle);
  writeFileSync(path.join(bundle, 'places'), places.map((line) => `${line}\n`).join(''), { mode: 0o600 });
  writeFileSync(path.join(bundle, 'config.json'), JSON.stringify(config), { mode: 0o600 });
}

/** The containers that save and restore volumes: the job runs them also when no command is there to ask for it. */
async function writeOwnBundles(
  options: JobEngineOptions,
  image: string,
  { runDir, work, sessionId }: { readonly runDir: string; readonly work: string; readonly sessionId: string },
): Promise<void> {
  const rootfs = await rootFiles(options.local, image, options);
  const { uid, gid, local } = options;
  const seccomp = await readSeccompProfile();
  const kept = path.join(path.dirname(runDir), 'kept');
  const volumes = { volumes: path.join(work, 'volumes'), kept };
  const make = (name: string, script: string, more: Partial<ContainerSpec>, readonly: boolean): void => {
    const spec = taskSpec({
      sessionId,
      suffix: name,
      image,
      seccomp,
      user: '0:0',
      argv: ['/bin/bash', '-c', script],
      mounts: [
        { kind: 'volume', volume: 'volumes', target: '/mnt', readonly },
        { kind: 'volume', volume: 'kept', target: '/media', readonly: true },
      ],
      stdin: 'none',
    });
    const place = { rootfs, arch: local.facts.arch, volumes, overlays: {}, uid, gid };
    // Its output is the archive. The agent's container proved the same layers.
    const config = jobBundle({ ...spec, ...more }, place, { isProved: false });
    const bundle = path.join(runDir, 'bundles', name);
    mkdirSync(bundle, { recursive: true, mode: 0o700 });
    writeFileSync(path.join(bundle, 'config.json'), JSON.stringify(config), { mode: 0o600 });
  };
  make(SAVE_BUNDLE, SAVE_PROGRAM, { capabilities: ['DAC_READ_SEARCH'] }, true);
  // An overlay stores a removed file as a device without a number, which the profile does not let anybody make.
  const owner = { capabilities: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID'], seccomp: undefined };
  make(RESTORE_BUNDLE, RESTORE_PROGRAM, owner, false);
}
