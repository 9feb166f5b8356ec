// A change set is a POSIX tar of regular files, so that any tar lists it. Only what is written here is read back: no
// links, no directories, no extended headers, nothing after the end.

export const BLOCK_BYTES = 512;
/** Two empty blocks. */
export const TAR_END: Buffer = Buffer.alloc(2 * BLOCK_BYTES);

export interface TarFile {
  readonly name: string;
  readonly size: number;
}

/** The header block of a regular file, without owner or time. The name has at most 100 characters of ASCII. Pure. */
export function tarHeader({ name, size }: TarFile): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES);
  block.write(name, 0, 100, 'latin1');
  block.write('0000600\0', 100, 'latin1');
  block.write('0000000\0', 108, 'latin1');
  block.write('0000000\0', 116, 'latin1');
  block.write(`${size.toString(8).padStart(11, '0')}\0`, 124, 'latin1');
  block.write('00000000000\0', 136, 'latin1');
  block.write('0', 156, 'latin1');
  block.write('ustar\x0000', 257, 'latin1');
  block.write(`${checksum(block).toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}

/** The file that a header block names; undefined unless {@link tarHeader} makes exactly this block. Pure. */
export function parseTarHeader(block: Buffer): TarFile | undefined {
  const end = block.indexOf(0);
  const name = block.toString('latin1', 0, Math.max(0, Math.min(end, 100)));
  const octal = block.toString('latin1', 124, 135);
  if (!/^[0-9A-Za-z./-]+$/.test(name) || !/^[0-7]{11}$/.test(octal)) return undefined;
  const file = { name, size: Number.parseInt(octal, 8) };
  return tarHeader(file).equals(block) ? file : undefined;
}

/** Zeros that fill the last block of a file of this size. */
export function paddingOf(size: number): number {
  return (BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES;
}

function checksum(block: Buffer): number {
  let sum = 0;
  for (let at = 0; at < BLOCK_BYTES; at += 1) sum += at >= 148 && at < 156 ? 32 : (block[at] as number);
  return sum;
}
