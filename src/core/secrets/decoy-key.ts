import { createECDH, createPrivateKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { opensshKey } from './openssh-key.ts';

const ARMOR = /^-----BEGIN ([A-Z0-9 ]+)-----/;

/** Bytes that follow from a key and a place. */
export interface KeyBytes {
  /** Others for each key file. */
  readonly own: (length: number) => Buffer;
  /** The RSA key that a project's files share: making one takes some tenths of a second. */
  readonly rsa: () => KeyObject;
}

/**
 * Another private key of the same kind, in the same armor and with the same line ends, also where they are written as
 * `\n`. RSA (2048 bits), curves of NIST, secp256k1, Ed25519 and its relatives load, in the forms of PKCS1, SEC1, PKCS8 and
 * OpenSSH. An encrypted key and any other kind keeps its size and armor, and opens as no key.
 */
export function decoyKeyBlock(block: string, bytes: KeyBytes): string {
  const armor = ARMOR.exec(block)?.[1] ?? 'PRIVATE KEY';
  const begin = `-----BEGIN ${armor}-----`;
  const end = `-----END ${armor}-----`;
  const hasEnd = block.endsWith(end);
  const body = block.slice(begin.length, hasEnd ? block.length - end.length : undefined);
  const newline = /^(?:\\r\\n|\\n|\r\n|\n)/.exec(body)?.[0] ?? '\n';
  const indent = /^(?:\\r\\n|\\n|\r\n|\n)([ \t]*)/.exec(body)?.[1] ?? '';
  const width = armor === 'OPENSSH PRIVATE KEY' ? /.{1,70}/g : /.{1,64}/g;
  const lines = base64Of(armor, body, bytes).match(width) ?? [];
  return [begin, ...lines.map((line) => indent + line), ...(hasEnd ? [indent + end] : [])].join(newline);
}

function base64Of(armor: string, body: string, bytes: KeyBytes): string {
  const letters = body.replaceAll(/\\r\\n|\\n|\s/g, '');
  const was = Buffer.from(letters, 'base64');
  const made = body.includes('ENCRYPTED') ? undefined : keyOf(armor, was, bytes);
  if (made !== undefined) return made.toString('base64');
  const size = letters.replaceAll(/[^A-Za-z0-9+/]/g, '').length;
  return bytes.own(Math.floor((size * 3) / 4)).toString('base64');
}

/** A key in the form that an armor has. Undefined where it cannot be made. */
function keyOf(armor: string, was: Buffer, bytes: KeyBytes): Buffer | undefined {
  if (armor === 'RSA PRIVATE KEY') return bytes.rsa().export({ type: 'pkcs1', format: 'der' });
  if (armor === 'EC PRIVATE KEY')
    return curveKey(curveIn(was) ?? 'P-256', bytes).export({ type: 'sec1', format: 'der' });
  if (armor === 'PRIVATE KEY') return pkcs8Of(was, bytes).export({ type: 'pkcs8', format: 'der' });
  if (armor !== 'OPENSSH PRIVATE KEY') return undefined;
  const key = opensshKind(was, bytes)?.export({ format: 'jwk' });
  return key && opensshKey(key, bytes.own(4), '');
}

/** A key of the kind that a PKCS8 structure names; Ed25519 where it names none that is known. */
function pkcs8Of(was: Buffer, bytes: KeyBytes): KeyObject {
  if (was.includes(RSA_OID)) return bytes.rsa();
  const curve = curveIn(was);
  if (curve !== undefined) return curveKey(curve, bytes);
  return edwardsKey(EDWARDS.find(({ oid }) => was.includes(oid)) ?? (EDWARDS[0] as Edwards), bytes);
}

/** Undefined for an encrypted key, and one of a hardware token. */
function opensshKind(was: Buffer, bytes: KeyBytes): KeyObject | undefined {
  const text = was.toString('latin1');
  if (!text.startsWith('openssh-key-v1\0\0\0\0\x04none')) return undefined;
  const kind = /(?:sk-)?(?:ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp\d{3})/.exec(text)?.[0] ?? '';
  if (kind === 'ssh-rsa') return bytes.rsa();
  if (kind === 'ssh-ed25519') return edwardsKey(EDWARDS[0] as Edwards, bytes);
  const curve = kind.startsWith('ecdsa') ? CURVES.find(({ name }) => name === `P-${kind.slice(-3)}`) : undefined;
  return curve && curveKey(curve.name, bytes);
}

const RSA_OID = Buffer.from('06092a864886f70d010101', 'hex');

interface Edwards {
  readonly oid: Buffer;
  /** A PKCS8 structure without the bytes of the key. */
  readonly begin: Buffer;
  readonly length: number;
}

const EDWARDS: readonly Edwards[] = (
  [
    ['2b6570', '302e020100300506032b657004220420', 32],
    ['2b656e', '302e020100300506032b656e04220420', 32],
    ['2b6571', '3047020100300506032b6571043b0439', 57],
    ['2b656f', '3046020100300506032b656f043a0438', 56],
  ] as const
).map(([oid, begin, length]) => ({ oid: Buffer.from(`0603${oid}`, 'hex'), begin: Buffer.from(begin, 'hex'), length }));

function edwardsKey({ begin, length }: Edwards, bytes: KeyBytes): KeyObject {
  return createPrivateKey({ key: Buffer.concat([begin, bytes.own(length)]), format: 'der', type: 'pkcs8' });
}

/** Names in JSON web keys and in OpenSSL, the identifier, and the bytes of a private key. */
const CURVES = (
  [
    ['P-256', 'prime256v1', '2a8648ce3d030107', 32],
    ['P-384', 'secp384r1', '2b81040022', 48],
    ['P-521', 'secp521r1', '2b81040023', 66],
    ['secp256k1', 'secp256k1', '2b8104000a', 32],
  ] as const
).map(([name, openssl, oid, length]) => ({ name, openssl, oid: Buffer.from(oid, 'hex'), length }));

const curveIn = (was: Buffer): string | undefined => CURVES.find(({ oid }) => was.includes(oid))?.name;

function curveKey(curve: string, bytes: KeyBytes): KeyObject {
  const { name, openssl, length } = CURVES.find((one) => one.name === curve) ?? (CURVES[0] as (typeof CURVES)[number]);
  const scalar = bytes.own(length);
  // Below the order of each curve, and not zero.
  scalar[0] = name === 'P-521' ? 0 : (scalar[0] as number) & 0x7f;
  scalar[length - 1] = (scalar[length - 1] as number) | 1;
  const ecdh = createECDH(openssl);
  ecdh.setPrivateKey(scalar);
  const point = ecdh.getPublicKey();
  const jwk: JsonWebKey = {
    kty: 'EC',
    crv: name,
    d: scalar.toString('base64url'),
    x: point.subarray(1, 1 + length).toString('base64url'),
    y: point.subarray(1 + length).toString('base64url'),
  };
  return createPrivateKey({ format: 'jwk', key: jwk });
}
