import { createHmac, type KeyObject } from 'node:crypto';
import type { Decoy } from '../types/secret/decoy.ts';
import { decoyKeyBlock } from './decoy-key.ts';
import { rsaKey } from './decoy-rsa.ts';

export type { Decoy };

/** Where a value is: its decoy is always the same there. */
export interface DecoyPlace {
  readonly path: string;
  readonly name?: string;
}

/** Beginnings that issuers publish: they say what a token is, and are no part of the secret. */
const PREFIX =
  /^(?:(?:sk|rk|pk)_(?:live|test)_|whsec_|sk-(?:ant-(?:api|oat|ort|admin|sid)\d\d-|proj-|svcacct-|admin-|or-v1-)?|gh[pousr]_|github_pat_|gl(?:pat|ptt|dt|rt|cbt|agent|soat|ft|imt|oas|ffct|wt)-|GR1348941|AKIA|ASIA|ABIA|ACCA|AIza|GOCSPX-|ya29\.|LTAI|do[opr]_v1_|HRKU-|FlyV1 fm\d_|nfp_|sbp_|pscale_(?:pw|tkn|oauth)_|dapi|hv[sbr]\.|pul-|dp\.(?:ct|pt|st|sa|scim|audit)\.|tskey-[a-z]{2,10}-|ops_eyJ|AT[AC]TT3|npm_|pypi-AgE|rubygems_|oy2|cio|dckr_[po]at_|AKCp|cmVmdGtuO|sntry(?:s_eyJ|u_)|gl(?:sa|c)_|NRAK-|PMAK-|lin_api_|ntn_|secret_|fig[dor]_|gsk_|hf_|xai-|pplx-|r8_|lsv2_(?:pt|sk)_|xox[a-z][-.]|xapp-|https:\/\/hooks\.slack\.com\/(?:services|workflows|triggers)\/|https:\/\/(?:\w+\.)?discord(?:app)?\.com\/api\/webhooks\/|sq0(?:atp|csp)-|shp(?:at|ca|pa|ss)_|SG\.|xkeysib-|key-|AGE-SECRET-KEY-1|PuTTY-User-Key-File-[23]:|Bearer |Basic |Token )/;
/** Parts by which a token is recognised, wherever they are in it. */
const MARK = /T3BlbkFJ|\.atlasv1\.|\dQ~|:AA|-us\d{1,2}$/g;

/**
 * A value of the same length, beginning and alphabet that opens nothing: always the same for a key, a place and a value.
 * A block with a private key becomes another valid block, whose length may differ.
 */
export function deriveDecoy(key: Buffer, { path, name = '' }: DecoyPlace, value: string): string {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const stream = new KeyedStream(key, JSON.stringify([path, name, value, attempt]));
    const decoy = decoyFrom(key, stream, value);
    if (decoy !== value) return decoy;
  }
  return value.replaceAll(/[^\s"'\\]/g, 'x');
}

/** A single digit is its own decoy one time in ten. */
const MAX_ATTEMPTS = 20;

function decoyFrom(key: Buffer, stream: KeyedStream, value: string): string {
  if (value.startsWith('-----BEGIN '))
    return decoyKeyBlock(value, { own: (length) => stream.bytes(length), rsa: () => sharedRsaKey(key) });
  return loginDecoy(stream, value) ?? tokenDecoy(stream, value) ?? sameShape(stream, value);
}

/** The RSA key that follows from a key: each file of a project has the same one. */
function sharedRsaKey(key: Buffer): KeyObject {
  const name = key.toString('hex');
  const known = rsaKeys.get(name);
  if (known !== undefined) return known;
  const stream = new KeyedStream(key, 'RSA');
  const made = rsaKey((length) => stream.bytes(length));
  rsaKeys.set(name, made);
  return made;
}

/** By what they follow from: a command has a few. */
const rsaKeys = new Map<string, KeyObject>();

/** `user:password` in base64, as registries store it: the user stays. */
function loginDecoy(stream: KeyedStream, value: string): string | undefined {
  if (!/^[A-Za-z0-9+/]{6,}={0,2}$/.test(value) || value.length % 4 !== 0) return undefined;
  const text = Buffer.from(value, 'base64').toString('latin1');
  const [, user, password] = /^([\x20-\x39\x3b-\x7e]+:)([\x20-\x7e]+)$/.exec(text) ?? [];
  if (user === undefined || password === undefined) return undefined;
  return Buffer.from(`${user}${sameShape(stream, password)}`, 'latin1').toString('base64');
}

/** A JSON web token keeps its header. Its claims become one, so that programs that read it find JSON. */
function tokenDecoy(stream: KeyedStream, value: string): string | undefined {
  const [, header, claims, signature] =
    /^(eyJ[A-Za-z0-9_-]+)\.(eyJ[A-Za-z0-9_-]{16,})\.([A-Za-z0-9_-]+)$/.exec(value) ?? [];
  if (header === undefined || claims === undefined || signature === undefined) return undefined;
  const length = Buffer.from(claims, 'base64url').length;
  const subject = `{"sub":"${stream
    .bytes(length)
    .toString('hex')
    .slice(0, length - 10)}"}`;
  return `${header}.${Buffer.from(subject).toString('base64url')}.${sameShape(stream, signature)}`;
}

const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const DIGITS = '0123456789';

function sameShape(stream: KeyedStream, value: string): string {
  const prefix = PREFIX.exec(value)?.[0] ?? '';
  const rest = value.slice(prefix.length);
  const kept = new Set<number>();
  for (const mark of rest.matchAll(MARK)) for (let at = 0; at < mark[0].length; at += 1) kept.add(mark.index + at);
  const digits = /^A(?:K|S|B|C)[IC]A$/.test(prefix) ? '234567' : DIGITS;
  const isHex = /^[0-9a-f-]{16,}$/.test(rest) || /^[0-9A-F-]{16,}$/.test(rest);
  const hasClass = /[A-Za-z0-9]|[^\x00-\x7f]/.test(rest);
  let decoy = prefix;
  for (let at = 0; at < rest.length; at += 1) {
    const char = rest[at] as string;
    // An escape of the file's own language is written as it was.
    if (char === '\\') {
      const sequence = /^\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[\s\S]?)/.exec(rest.slice(at, at + 6))?.[0] ?? char;
      decoy += sequence;
      at += sequence.length - 1;
    } else if (kept.has(at)) decoy += char;
    else decoy += stream.pick(alphabetOf(char, { digits, isHex, hasClass }));
  }
  return decoy;
}

interface Alphabets {
  readonly digits: string;
  readonly isHex: boolean;
  readonly hasClass: boolean;
}

function alphabetOf(char: string, { digits, isHex, hasClass }: Alphabets): string {
  if (isHex && char !== '-') return /[A-F]/.test(char) ? 'ABCDEF' : /[a-f]/.test(char) ? 'abcdef' : DIGITS;
  if (char >= '0' && char <= '9') return digits;
  if (char >= 'a' && char <= 'z') return LOWER;
  if (char >= 'A' && char <= 'Z') return LOWER.toUpperCase();
  if (char > '\x7f') return LOWER;
  return hasClass || /[\s"'\x00-\x1f]/.test(char) ? char : LOWER;
}

/** Bytes that follow from a key and a label. */
class KeyedStream {
  readonly #key: Buffer;
  readonly #label: string;
  #block = Buffer.alloc(0);
  #at = 0;
  #count = 0;

  constructor(key: Buffer, label: string) {
    this.#key = key;
    this.#label = label;
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.#byte()));
  }

  /** One character, each as likely as the others. */
  pick(alphabet: string): string {
    if (alphabet.length === 1) return alphabet;
    const limit = 256 - (256 % alphabet.length);
    for (;;) {
      const byte = this.#byte();
      if (byte < limit) return alphabet[byte % alphabet.length] as string;
    }
  }

  #byte(): number {
    if (this.#at === this.#block.length) {
      this.#block = createHmac('sha256', this.#key).update(`${this.#count}\0${this.#label}`).digest();
      this.#count += 1;
      this.#at = 0;
    }
    this.#at += 1;
    return this.#block[this.#at - 1] as number;
  }
}
