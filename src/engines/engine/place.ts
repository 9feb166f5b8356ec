import { chmod, chown, lchown, mkdir, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RunClaudeError } from '../../core/errors.ts';
import { removeTree } from '../../core/host/files/remove-tree.ts';
import type { ContainerSpec, EngineFacts, Mount } from '../../core/types/engine.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import { unpackInto } from './containers/unpack.ts';
import { HELPER_USER } from './hardening/hardened.ts';

/** One entry to put into a place. Parents come before children. */
export interface PlaceEntry {
  /** Relative, '/' between components. Never a name that the agent chose. */
  readonly path: string;
  /** Permission bits. */
  readonly mode: number;
  readonly content: 'directory' | Uint8Array | { readonly link: string };
  /** Modification time of a file, in milliseconds since the epoch; default: now. */
  readonly mtimeMs?: number;
}

export interface PlaceOptions {
  /** Name of the engine's volume, where there is one: `run-claude-<id>-home`. */
  readonly name: string;
  /** The directory on this machine, where the engine can mount it. Made when missing. */
  readonly dir: string;
  /** Who owns the place and everything that fill() puts there. */
  readonly owner: { readonly uid: number; readonly gid: number };
  readonly image: string;
  readonly sessionId: string;
  /** Label of a volume that outlives the session, instead of the session's id. */
  readonly label?: string;
}

/** A directory that containers mount: of this machine where the engine can mount it, otherwise a volume. */
export interface Place {
  readonly kind: 'directory' | 'volume';
  mount(target: string, readonly: boolean): Mount;
  /** Puts entries there. Call it before a container mounts the place. */
  fill(entries: readonly PlaceEntry[]): Promise<void>;
  /** Removes the place with everything in it. No error when it does not exist. */
  remove(): Promise<void>;
}

/**
 * Makes an empty place, or opens the existing one.
 *
 * @throws {RunClaudeError} PLACE_FAILED when the directory can't be made, filled or removed, or the engine's error.
 */
export async function openPlace(engine: Runtime, options: PlaceOptions): Promise<Place> {
  return isDirectory(engine.facts, options.owner) ? openDirectory(options) : openVolume(engine, options);
}

/** The mount of a place, without opening it. */
export function placeMount(
  facts: EngineFacts,
  { name, dir, owner }: Pick<PlaceOptions, 'name' | 'dir' | 'owner'>,
  target: string,
  readonly: boolean,
): Mount {
  return isDirectory(facts, owner)
    ? { kind: 'bind', source: dir, target, readonly }
    : { kind: 'volume', volume: name, target, readonly };
}

function isDirectory({ local, rootless, usernsRemap }: EngineFacts, owner: PlaceOptions['owner']): boolean {
  return local && !rootless && !usernsRemap && mayOwn(owner);
}

/** Whether this process can make files that belong to the owner. */
function mayOwn(owner: PlaceOptions['owner']): boolean {
  const uid = process.getuid?.();
  return uid === 0 || (uid === owner.uid && process.getgid?.() === owner.gid);
}

async function openDirectory({ dir, owner }: PlaceOptions): Promise<Place> {
  await placing(`prepare ${dir}`, async () => {
    await mkdir(dir, { recursive: true, mode: 0o700 });
    await chown(dir, owner.uid, owner.gid);
  });
  return {
    kind: 'directory',
    mount: (target, readonly) => ({ kind: 'bind', source: dir, target, readonly }),
    fill: (entries) => placing(`fill ${dir}`, () => fillDirectory(dir, owner, entries)),
    remove: () => placing(`remove ${dir}`, () => removeTree(dir)),
  };
}

async function fillDirectory(dir: string, owner: PlaceOptions['owner'], entries: readonly PlaceEntry[]): Promise<void> {
  for (const { path, mode, content, mtimeMs } of entries) {
    const file = join(dir, path);
    if (content === 'directory') await mkdir(file, { recursive: true });
    else if (content instanceof Uint8Array) await writeFile(file, content, { flag: 'wx' });
    else await symlink(content.link, file);
    await lchown(file, owner.uid, owner.gid);
    if (content === 'directory' || content instanceof Uint8Array) await chmod(file, mode);
    if (content instanceof Uint8Array && mtimeMs !== undefined) await utimes(file, mtimeMs / 1000, mtimeMs / 1000);
  }
}

async function placing(doing: string, step: () => Promise<void>): Promise<void> {
  try {
    await step();
  } catch (cause) {
    const [why] = (cause as Error).message.split('\n');
    throw new RunClaudeError('PLACE_FAILED', `cannot ${doing}: ${why}`, { cause });
  }
}

/** A volume of the engine as a place, made when missing. Throws the engine's errors. */
export async function openVolume(engine: Runtime, options: PlaceOptions): Promise<Place> {
  const { name, sessionId } = options;
  const found = await engine.findVolume(name);
  if (found === undefined) {
    await engine.createVolume({ name, labels: { 'run-claude.session': options.label ?? sessionId } });
    await ownVolume(engine, options);
  }
  return {
    kind: 'volume',
    mount: (target, readonly) => ({ kind: 'volume', volume: name, target, readonly }),
    fill: (entries) => fillVolume(engine, options, entries),
    remove: () => engine.removeVolume(name),
  };
}

/** Puts entries into a volume. */
async function fillVolume(
  engine: Runtime,
  { name, owner: { uid, gid }, image, sessionId }: PlaceOptions,
  entries: readonly PlaceEntry[],
): Promise<void> {
  const { pack } = await import('tar-stream');
  await unpackInto(engine, fillSpec(name, image, sessionId), '/place', () => {
    const tar = pack();
    for (const { path, mode, content, mtimeMs } of entries) {
      const mtime = new Date(mtimeMs ?? Date.now());
      if (content === 'directory') tar.entry({ name: `./${path}/`, type: 'directory', mode, uid, gid });
      else if (content instanceof Uint8Array)
        tar.entry({ name: `./${path}`, mode, uid, gid, mtime }, Buffer.from(content));
      else tar.entry({ name: `./${path}`, type: 'symlink', linkname: content.link, mode, uid, gid });
    }
    tar.finalize();
    return tar;
  });
}

/** The root of a new volume belongs to root. An archive cannot change that (the engine skips './'), a container can. */
async function ownVolume(engine: Runtime, { name, owner, image, sessionId }: PlaceOptions): Promise<void> {
  const script = `chmod 700 /place && chown ${owner.uid}:${owner.gid} /place`;
  const spec = { ...fillSpec(name, image, sessionId), argv: ['/bin/sh', '-c', script], user: '0:0' };
  const container = await engine.create({ ...spec, name: `${name}-own`, capabilities: ['CHOWN'] });
  try {
    await container.start();
    if ((await container.wait()) === 0) return;
    throw new RunClaudeError('PLACE_FAILED', `cannot prepare the volume ${name}: its owner can't be set`);
  } finally {
    await container.remove();
  }
}

function fillSpec(volume: string, image: string, sessionId: string): ContainerSpec {
  return {
    // Two sessions may open the same volume.
    name: volume.includes(sessionId) ? `${volume}-fill` : `${volume}-${sessionId}-fill`,
    role: 'task',
    sessionId,
    image,
    argv: ['/bin/true'],
    user: HELPER_USER,
    env: {},
    workdir: '/',
    mounts: [{ kind: 'volume', volume, target: '/place', readonly: false }],
    network: 'none',
    capabilities: [],
    seccomp: undefined,
    limits: { memoryMb: 64, cpus: 0, pids: 16, nofile: 1024, shmMb: 1 },
    tty: false,
    stdin: 'none',
    hostname: 'place',
  };
}
