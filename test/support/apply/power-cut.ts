import { createHash } from 'node:crypto';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

/** What a power cut leaves of what no fsync had secured. */
export type Loss =
  /** Its names and content were deleted. */
  | 'everything'
  /** Names are there, content is not: the files of zero length. */
  | 'content'
  /** Content is there, names are not. */
  | 'names';

type Inode =
  | { readonly kind: 'file'; now: Buffer; safe: Buffer; mode: number; safeMode: number }
  | { readonly kind: 'link'; readonly target: string }
  | {
      readonly kind: 'dir';
      readonly now: Map<string, Inode>;
      safe: Map<string, Inode>;
      mode: number;
      safeMode: number;
    };

/** A file system in memory that knows what is secured; begins with what is on the disk, all of it secured. */
export class PowerCut {
  readonly #root: string;
  readonly #top: Inode & { kind: 'dir' };

  constructor(root: string) {
    this.#root = root;
    this.#top = readInode(root) as Inode & { kind: 'dir' };
  }

  /** One line of the log of test/support/apply-shim/log.c. */
  do(line: string): void {
    const [op = '', where = '', more = '', hex = ''] = line.split('\t');
    if (op === 'syncfs') {
      secureAll(this.#top);
      return;
    }
    const { folder, name } = this.#at(where);
    const inode = folder.now.get(name);
    switch (op) {
      case 'create':
        folder.now.set(name, {
          kind: 'file',
          now: Buffer.alloc(0),
          safe: Buffer.alloc(0),
          mode: 0o600,
          safeMode: 0o600,
        });
        break;
      case 'mkdir':
        folder.now.set(name, {
          kind: 'dir',
          now: new Map(),
          safe: new Map(),
          mode: Number(more),
          safeMode: Number(more),
        });
        break;
      case 'symlink':
        folder.now.set(name, { kind: 'link', target: more });
        break;
      case 'unlink':
        folder.now.delete(name);
        break;
      case 'rename':
      case 'link': {
        const to = this.#at(more);
        if (inode === undefined) throw new Error(`nothing at ${where}`);
        to.folder.now.set(to.name, inode);
        if (op === 'rename') folder.now.delete(name);
        break;
      }
      default:
        change(where === this.#root ? this.#top : inode, op, more, Buffer.from(hex, 'hex'));
    }
  }

  /** Lays down in an empty folder what a cut at this moment leaves. */
  write(target: string, loss: Loss): void {
    writeInode(target, this.#top, loss);
  }

  /** The same for two moments at which a cut leaves the same. */
  signature(loss: Loss): string {
    return signatureOf(this.#top, loss);
  }

  #at(where: string): { folder: Inode & { kind: 'dir' }; name: string } {
    const parts = path.relative(this.#root, where).split('/');
    let folder = this.#top;
    for (const part of parts.slice(0, -1)) {
      const next = folder.now.get(part);
      if (next?.kind !== 'dir') throw new Error(`no folder ${part} of ${where}`);
      folder = next;
    }
    return { folder, name: parts.at(-1) ?? '' };
  }
}

function secureAll(inode: Inode): void {
  change(inode, 'sync', '', Buffer.alloc(0));
  if (inode.kind === 'dir') for (const inside of inode.now.values()) secureAll(inside);
}

function change(inode: Inode | undefined, op: string, more: string, bytes: Buffer): void {
  // A file that was opened and has no name any more matters to nobody.
  if (inode === undefined || inode.kind === 'link') return;
  if (op === 'chmod') inode.mode = Number(more) & 0o7777;
  else if (op === 'sync') {
    inode.safeMode = inode.mode;
    if (inode.kind === 'dir') inode.safe = new Map(inode.now);
    else inode.safe = inode.now;
  } else if (inode.kind === 'file') {
    const at = Number(more);
    if (op === 'truncate') inode.now = Buffer.concat([inode.now, Buffer.alloc(at)]).subarray(0, at);
    else {
      const now = Buffer.alloc(Math.max(inode.now.length, at + bytes.length));
      inode.now.copy(now);
      bytes.copy(now, at);
      inode.now = now;
    }
  }
}

function signatureOf(inode: Inode, loss: Loss): string {
  if (inode.kind === 'link') return `-> ${inode.target}`;
  const mode = loss === 'content' ? inode.mode : inode.safeMode;
  if (inode.kind === 'file') {
    const content = loss === 'names' ? inode.now : inode.safe;
    return `${mode} ${createHash('sha256').update(content).digest('hex')}`;
  }
  const entries = [...(loss === 'content' ? inode.now : inode.safe)];
  const inside = entries.map(([name, entry]) => [name, signatureOf(entry, loss)]);
  return `${mode} ${JSON.stringify(inside.sort(([a = ''], [b = '']) => (a < b ? -1 : 1)))}`;
}

function readInode(where: string): Inode {
  const stats = lstatSync(where);
  if (stats.isSymbolicLink()) return { kind: 'link', target: readlinkSync(where) };
  const mode = stats.mode & 0o7777;
  if (stats.isFile()) {
    const content = readFileSync(where);
    return { kind: 'file', now: content, safe: content, mode, safeMode: mode };
  }
  const entries = readdirSync(where).map((name) => [name, readInode(path.join(where, name))] as const);
  return { kind: 'dir', now: new Map(entries), safe: new Map(entries), mode, safeMode: mode };
}

function writeInode(target: string, inode: Inode, loss: Loss): void {
  if (inode.kind === 'link') {
    symlinkSync(inode.target, target);
    return;
  }
  const names = loss === 'content';
  if (inode.kind === 'file') {
    writeFileSync(target, loss === 'names' ? inode.now : inode.safe);
    chmodSync(target, names ? inode.mode : inode.safeMode);
    return;
  }
  mkdirSync(target);
  for (const [name, entry] of names ? inode.now : inode.safe) writeInode(path.join(target, name), entry, loss);
  chmodSync(target, names ? inode.mode : inode.safeMode);
}
