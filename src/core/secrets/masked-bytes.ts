import type { SecretValue } from '../types/secret/secret-file.ts';
import { secretKind } from './kinds.ts';
import { maskedText } from './values.ts';

/**
 * The bytes of a file with a decoy in place of each secret, or undefined where there is none. A key store, and a key in a
 * binary form, become empty. Bytes that are no valid text stay as they are. `isPrivate`: as of secretValues.
 */
export function maskedBytes(
  path: string,
  bytes: Buffer,
  decoyFor: (value: SecretValue) => string,
  isPrivate = false,
): Buffer | undefined {
  const kind = secretKind(path);
  if (bytes.length === 0) return undefined;
  if (kind?.form === 'key-store') return EMPTY;
  const encoding = encodingOf(bytes);
  const text = bytes.toString(encoding);
  // A presentation and an archive are no key, whatever their name.
  if (encoding === 'latin1' && kind?.isBare === true && text.includes('\0') && !text.startsWith('PK')) return EMPTY;
  const masked = maskedText(path, text, decoyFor, isPrivate);
  if (masked === text) return undefined;
  // A database has places in it that count bytes.
  const isMoved = encoding === 'latin1' && text.includes('\0') && masked.length !== text.length;
  return isMoved ? EMPTY : Buffer.from(masked, encoding);
}

const EMPTY = Buffer.alloc(0);

function encodingOf(bytes: Buffer): 'utf8' | 'utf16le' | 'latin1' {
  if (bytes[0] === 0xff && bytes[1] === 0xfe && bytes.length % 2 === 0) return 'utf16le';
  return !bytes.includes(0) && Buffer.from(bytes.toString('utf8')).equals(bytes) ? 'utf8' : 'latin1';
}
