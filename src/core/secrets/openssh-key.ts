import type { JsonWebKey } from 'node:crypto';

/** Names of curves in OpenSSH, by their names in JSON web keys. */
const CURVES: Readonly<Record<string, string>> = { 'P-256': 'nistp256', 'P-384': 'nistp384', 'P-521': 'nistp521' };

/**
 * A private key in OpenSSH's own form, without encryption (PROTOCOL.key of OpenSSH); undefined for a kind that OpenSSH does
 * not have. `key`: a JSON web key of Ed25519, RSA or a curve of NIST. `check`: four bytes.
 */
export function opensshKey(key: JsonWebKey, check: Buffer, comment: string): Buffer | undefined {
  const parts = partsOf(key);
  if (parts === undefined) return undefined;
  const publicKey = Buffer.concat(parts.open.map(field));
  const inner = [check, check, ...parts.secret.map(field), field(comment)];
  const length = inner.reduce((sum, { byteLength }) => sum + byteLength, 0);
  const padding = Buffer.from([1, 2, 3, 4, 5, 6, 7].slice(0, (8 - (length % 8)) % 8));
  return Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    ...['none', 'none', ''].map(field),
    Buffer.of(0, 0, 0, 1),
    field(publicKey),
    field(Buffer.concat([...inner, padding])),
  ]);
}

type Field = string | Buffer;

function partsOf(key: JsonWebKey): { readonly open: readonly Field[]; readonly secret: readonly Field[] } | undefined {
  const of = (name: keyof JsonWebKey): Buffer => Buffer.from(String(key[name] ?? ''), 'base64url');
  const number = (name: keyof JsonWebKey): Buffer => mpint(of(name));
  if (key.kty === 'OKP' && key.crv === 'Ed25519') {
    const open = ['ssh-ed25519', of('x')];
    return { open, secret: [...open, Buffer.concat([of('d'), of('x')])] };
  }
  if (key.kty === 'RSA') {
    const secret = ['n', 'e', 'd', 'qi', 'p', 'q'].map((name) => number(name as keyof JsonWebKey));
    return { open: ['ssh-rsa', number('e'), number('n')], secret: ['ssh-rsa', ...secret] };
  }
  const curve = CURVES[key.crv ?? ''];
  if (curve === undefined) return undefined;
  const open = [`ecdsa-sha2-${curve}`, curve, Buffer.concat([Buffer.of(4), of('x'), of('y')])];
  return { open, secret: [...open, number('d')] };
}

/** A number as SSH writes it (RFC 4251): as few bytes as it needs, the first one without the bit of a sign. */
function mpint(bytes: Buffer): Buffer {
  const from = bytes.findIndex((byte) => byte !== 0);
  const short = from < 0 ? Buffer.alloc(0) : bytes.subarray(from);
  return (short[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.of(0), short]) : short;
}

/** A text or bytes with their length before them. */
function field(content: Field): Buffer {
  const bytes = Buffer.from(content as string);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
