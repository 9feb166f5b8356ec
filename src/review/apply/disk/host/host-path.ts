import { type BigIntStats, closeSync, constants, fstatSync, lstatSync, openSync, statfsSync } from 'node:fs';
import { RunClaudeError } from '../../../../core/errors.ts';
import { encodeBytes } from '../../../../core/text/path.ts';

/**
 * Enters folders of the host project without following a link, so that a path that is concurrently replaced by a link
 * cannot lead outside the project. Everything between enter() and the use of its prefix is synchronous.
 */
export interface HostWalker extends Disposable {
  /**
   * A prefix for names in the folder at this path ('' is the project itself), valid until the next enter().
   * Throws NotAFolder for the first component that is absent, a link or not a folder.
   */
  enter(folder: string): Buffer;
  /** The prefix that enter() gave last. */
  entered(): Buffer;
  /** A descriptor of the folder entered last, for fsync. Preconditions: the caller closes it. */
  openFolder(): number;
  /** 'device:inode' of the folder entered last. */
  folderIdentity(): string;
  /** Modification time of the project's own directory, in nanoseconds. */
  rootTime(): string;
}

/** A component of a path that is not a folder of the project: absent, a link, or something else. */
export class NotAFolder extends Error {
  readonly path: string;
  readonly found: 'absent' | 'link' | 'other';
  constructor(path: string, found: NotAFolder['found']) {
    super(`${path} is ${found === 'absent' ? 'absent' : found === 'link' ? 'a link' : 'not a folder'}`);
    this.name = 'NotAFolder';
    this.path = path;
    this.found = found;
  }
}

/** 'device:inode', which names a directory for as long as it exists. */
export function directoryIdentity(path: string): string {
  const { dev, ino } = lstatSync(path, { bigint: true });
  return `${dev}:${ino}`;
}

/**
 * A walker from the project's directory. On Linux it uses descriptors under /proc/self/fd, elsewhere chdir, checked
 * after every step. `identity` is 'device:inode', or ':inode' where the device is not known.
 *
 * @throws {RunClaudeError} APPLY_PROJECT_REPLACED when the directory at this path has another identity.
 */
export function openHostWalker(
  project: string,
  identity: string | undefined,
  way: 'descriptors' | 'chdir' = process.platform === 'linux' ? 'descriptors' : 'chdir',
): HostWalker {
  const walker = way === 'descriptors' ? new DescriptorWalker(project) : new ChdirWalker(project);
  const replaced = identity?.startsWith(':') ? !walker.identity.endsWith(identity) : walker.identity !== identity;
  if (identity !== undefined && replaced && !hasUnstableInodes(project)) {
    walker[Symbol.dispose]();
    throw new RunClaudeError('APPLY_PROJECT_REPLACED', `${project} is not the directory that the session began with`, {
      hint: 'Put the original directory back, or take the changes by `run-claude diff`.',
    });
  }
  return walker;
}

/** statfs(2), f_type: FAT, exFAT, FUSE. */
const UNSTABLE_INODES: ReadonlySet<number> = new Set([0x4d44, 0x2011bab0, 0x65735546]);

/** File systems without inodes give the same folder another number after a mount, or after some time. */
function hasUnstableInodes(project: string): boolean {
  return process.platform === 'linux' && UNSTABLE_INODES.has(statfsSync(project).type);
}

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

class DescriptorWalker implements HostWalker {
  readonly identity: string;
  readonly #root: number;
  /** The folder entered last and those above it. */
  readonly #open: { readonly name: string; readonly fd: number }[] = [];

  constructor(project: string) {
    this.#root = openSync(project, constants.O_RDONLY | constants.O_DIRECTORY);
    const { dev, ino } = fstatSync(this.#root, { bigint: true });
    this.identity = `${dev}:${ino}`;
  }

  enter(folder: string): Buffer {
    const names = folder === '' ? [] : folder.split('/');
    // An earlier descriptor is never used again: the folder may have been replaced since.
    this.#closeAll();
    for (const [at, name] of names.entries()) {
      const place = Buffer.concat([this.#prefix(), encodeBytes(name)]);
      try {
        this.#open.push({ name, fd: openSync(place, FOLDER) });
      } catch (error) {
        throw asNotAFolder(error, names.slice(0, at + 1).join('/'), place);
      }
    }
    return this.#prefix();
  }

  rootTime(): string {
    return String(fstatSync(this.#root, { bigint: true }).mtimeNs);
  }

  entered(): Buffer {
    return this.#prefix();
  }

  openFolder(): number {
    return openSync(Buffer.concat([this.#prefix(), Buffer.from('.')]), FOLDER);
  }

  folderIdentity(): string {
    const { dev, ino } = fstatSync(this.#open.at(-1)?.fd ?? this.#root, { bigint: true });
    return `${dev}:${ino}`;
  }

  [Symbol.dispose](): void {
    this.#closeAll();
    closeSync(this.#root);
  }

  #prefix(): Buffer {
    return Buffer.from(`/proc/self/fd/${this.#open.at(-1)?.fd ?? this.#root}/`);
  }

  #closeAll(): void {
    for (const { fd } of this.#open.splice(0)) closeSync(fd);
  }
}

/**
 * The portable way: the working directory is the folder. Preconditions: nothing of the process uses relative paths
 * between enter() and the synchronous use of its prefix.
 */
class ChdirWalker implements HostWalker {
  readonly identity: string;
  readonly #project: string;
  readonly #before = process.cwd();

  constructor(project: string) {
    this.#project = project;
    this.identity = directoryIdentity(project);
  }

  enter(folder: string): Buffer {
    process.chdir(this.#project);
    if (directoryIdentity('.') !== this.identity) {
      throw new RunClaudeError('APPLY_PROJECT_REPLACED', `${this.#project} was replaced while it was in use`);
    }
    const names = folder === '' ? [] : folder.split('/');
    for (const [at, name] of names.entries()) {
      const path = names.slice(0, at + 1).join('/');
      const bytes = encodeBytes(name);
      let expected: BigIntStats;
      try {
        expected = lstatSync(Buffer.concat([Buffer.from('./'), bytes]), { bigint: true });
      } catch (error) {
        throw asNotAFolder(error, path);
      }
      if (expected.isSymbolicLink()) throw new NotAFolder(path, 'link');
      if (!expected.isDirectory()) throw new NotAFolder(path, 'other');
      // Node changes directory by text only: a name that is not valid UTF-8 cannot be entered.
      const text = bytes.toString('utf8');
      if (!Buffer.from(text).equals(bytes)) throw new NotAFolder(path, 'other');
      process.chdir(`./${text}`);
      if (directoryIdentity('.') !== `${expected.dev}:${expected.ino}`) throw new NotAFolder(path, 'link');
    }
    return this.entered();
  }

  entered(): Buffer {
    return Buffer.from('./');
  }

  rootTime(): string {
    this.enter('');
    return String(lstatSync('.', { bigint: true }).mtimeNs);
  }

  openFolder(): number {
    return openSync('.', FOLDER);
  }

  folderIdentity(): string {
    return directoryIdentity('.');
  }

  [Symbol.dispose](): void {
    process.chdir(this.#before);
  }
}

function asNotAFolder(error: unknown, path: string, place?: Buffer): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return new NotAFolder(path, 'absent');
  if (code === 'ELOOP' || code === 'EMLINK') return new NotAFolder(path, 'link');
  if (code !== 'ENOTDIR') return error;
  // With O_DIRECTORY, Linux returns ENOTDIR for a link too; other systems return ELOOP or EMLINK.
  const isLink = place !== undefined && lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return new NotAFolder(path, isLink ? 'link' : 'other');
}
