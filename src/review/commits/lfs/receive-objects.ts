import { createHash, type Hash } from 'node:crypto';
import { closeSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';
import { type LfsPointer, lfsObjectPath } from '../../../core/git/lfs-pointer.ts';

const MAX_HEADER_BYTES = 100;

/**
 * Takes objects of Git LFS from a stream that a session controls: for each object a line `OID SIZE` and its bytes. Only
 * objects that were asked for are taken, with the size of their pointer and the SHA-256 of their name. Anything else ends
 * the reception: what came before counts.
 */
export class ObjectReceiver {
  private readonly wanted: ReadonlyMap<string, LfsPointer>;
  private readonly store: string;
  private header = Buffer.alloc(0);
  private open: { readonly pointer: LfsPointer; readonly file: number; readonly hash: Hash; left: number } | undefined;
  private isEnded = false;

  constructor(wanted: readonly LfsPointer[], store: string) {
    this.wanted = new Map(wanted.map((one) => [one.oid, one]));
    this.store = store;
    mkdirSync(path.join(store, 'tmp'), { recursive: true, mode: 0o700 });
  }

  /** Writes what belongs to the open object before it returns, so that the stream never runs ahead of the disk. */
  take(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0 && !this.isEnded)
      rest = this.open === undefined ? this.readHeader(rest) : this.readBytes(rest);
  }

  /** Removes an object of which the end did not come. */
  end(): void {
    if (this.open !== undefined) closeSync(this.open.file);
    this.open = undefined;
    this.isEnded = true;
    rmSync(path.join(this.store, 'tmp'), { recursive: true, force: true });
  }

  private readHeader(bytes: Buffer): Buffer {
    const end = bytes.indexOf(10);
    this.header = Buffer.concat([this.header, end < 0 ? bytes : bytes.subarray(0, end)]);
    if (end < 0) {
      if (this.header.length > MAX_HEADER_BYTES) this.isEnded = true;
      return Buffer.alloc(0);
    }
    const [, oid = '', size] = /^([0-9a-f]{64}) ([0-9]{1,15})$/.exec(this.header.toString('latin1')) ?? [];
    const pointer = this.wanted.get(oid);
    this.header = Buffer.alloc(0);
    if (pointer === undefined || pointer.size !== Number(size)) this.isEnded = true;
    else {
      const file = openSync(this.temporary(pointer), 'w', 0o600);
      this.open = { pointer, file, hash: createHash('sha256'), left: pointer.size };
      if (pointer.size === 0) this.finish();
    }
    return bytes.subarray(end + 1);
  }

  private readBytes(bytes: Buffer): Buffer {
    const { open } = this;
    if (open === undefined) return bytes;
    const own = bytes.subarray(0, open.left);
    for (let at = 0; at < own.length; ) at += writeSync(open.file, own, at);
    open.hash.update(own);
    open.left -= own.length;
    if (open.left === 0) this.finish();
    return bytes.subarray(own.length);
  }

  private finish(): void {
    if (this.open === undefined) return;
    const { pointer, file, hash } = this.open;
    this.open = undefined;
    closeSync(file);
    if (hash.digest('hex') !== pointer.oid) return;
    const target = path.join(this.store, lfsObjectPath(pointer.oid));
    mkdirSync(path.dirname(target), { recursive: true, mode: 0o700 });
    renameSync(this.temporary(pointer), target);
  }

  private temporary({ oid }: LfsPointer): string {
    return path.join(this.store, 'tmp', oid);
  }
}
