/** What a pointer file of Git LFS says. */
export interface LfsPointer {
  /** SHA-256 of the content, in hex digits. */
  readonly oid: string;
  /** In bytes. */
  readonly size: number;
}

/** git-lfs takes no longer file for a pointer. */
export const MAX_POINTER_BYTES = 1024;

const POINTER =
  /^version https:\/\/git-lfs\.github\.com\/spec\/v1\n(?:ext-[0-9]-[^\n ]+ [^\n]+\n)*oid sha256:([0-9a-f]{64})\nsize ([0-9]{1,15})\n?$/;

/** The pointer that a file is; undefined for any other content. Pure. */
export function parseLfsPointer(content: Buffer): LfsPointer | undefined {
  if (content.length > MAX_POINTER_BYTES || !content.subarray(0, 8).equals(VERSION)) return undefined;
  const [, oid, size] = POINTER.exec(content.toString('latin1')) ?? [];
  return oid === undefined ? undefined : { oid, size: Number(size) };
}

const VERSION = Buffer.from('version ');

/** The pointer file of a content. Pure. */
export function writeLfsPointer({ oid, size }: LfsPointer): string {
  return `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${size}\n`;
}

/** Where a store has an object, from the directory of the store. Pure. */
export function lfsObjectPath(oid: string): string {
  return `objects/${oid.slice(0, 2)}/${oid.slice(2, 4)}/${oid}`;
}
