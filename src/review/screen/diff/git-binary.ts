import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { createDeflate } from 'node:zlib';

/** How a repository names its objects. */
export type ObjectHash = 'sha1' | 'sha256';

/** The name of an object that does not exist. */
export const ZERO_ID: Readonly<Record<ObjectHash, string>> = { sha1: '0'.repeat(40), sha256: '0'.repeat(64) };

interface Bytes {
  readonly size: number;
  readonly pieces: () => Iterable<Uint8Array>;
}

/** The name that git gives a file's content. */
export function objectId({ hash, size, pieces }: Bytes & { readonly hash: ObjectHash }): string {
  const sum = createHash(hash).update(`blob ${size}\0`);
  for (const piece of pieces()) sum.update(piece);
  return sum.digest('hex');
}

/**
 * The body of a patch of other than text: the new content, then the old one, so that the patch can be undone. Content of any
 * size is read in pieces.
 */
export async function* binaryBody(before: Bytes | undefined, after: Bytes | undefined): AsyncGenerator<string> {
  yield 'GIT binary patch\n';
  yield* literal(after);
  yield* literal(before);
}

const NOTHING: Bytes = { size: 0, pieces: () => [] };
/** Bytes of a line. */
const LINE = 52;
const LINES_AT_ONCE = 1_000;

async function* literal({ size, pieces }: Bytes = NOTHING): AsyncGenerator<string> {
  yield `literal ${size}\n`;
  const deflated = Readable.from(pieces(), { objectMode: false }).compose(createDeflate());
  let rest = Buffer.alloc(0);
  for await (const piece of deflated as AsyncIterable<Buffer>) {
    rest = Buffer.concat([rest, piece]);
    const whole = rest.length - (rest.length % LINE);
    if (whole < LINE * LINES_AT_ONCE) continue;
    yield linesOf(rest.subarray(0, whole));
    rest = rest.subarray(whole);
  }
  yield `${linesOf(rest)}\n`;
}

function linesOf(bytes: Buffer): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += LINE) {
    const line = bytes.subarray(at, at + LINE);
    const length = line.length <= 26 ? 0x40 + line.length : 0x60 + line.length - 26;
    text += `${String.fromCharCode(length)}${base85(line)}\n`;
  }
  return text;
}

/** git's own alphabet (base85.c). */
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~';

function base85(bytes: Buffer): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 4) {
    let word = 0;
    for (let i = 0; i < 4; i++) word = word * 256 + (bytes[at + i] ?? 0);
    let digits = '';
    for (let i = 0; i < 5; i++) {
      digits = `${DIGITS[word % 85]}${digits}`;
      word = Math.floor(word / 85);
    }
    text += digits;
  }
  return text;
}
