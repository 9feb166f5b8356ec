import type { Pattern } from './automaton.ts';

/** Shorter values are in ordinary text by chance. */
export const MIN_SEARCHED_LENGTH = 8;
/** So many characters of a value are searched for: they are as unlikely by chance as all of them. */
const PIECE = 32;
/** A longer value is searched for in several places: a part of it may be sent alone. */
const LONG = 128;
/** Where the pieces of a long value begin. Its first part is the same for every key of a kind, its end is padding. */
const PLACES = [0.4, 0.55, 0.7] as const;
/** A piece with fewer different characters is not of a random value. */
const MIN_DIFFERENT = 5;
/** What a piece tells at least, by its alphabet: eight digits are somewhere in every large file of numbers. */
const MIN_BITS = 37;

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

const encoder = new TextEncoder();

/**
 * The parts of a value that are searched for, without line breaks; none for a value that is in other text by chance. Of a
 * URL with a password this is the password, of a key in PEM form its body.
 */
export function piecesOf(value: string): readonly string[] {
  const password = /^[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:([^\s/@]+)@/i.exec(value)?.[1];
  const body = (password ?? value).replace(/-----[A-Z ]+-----/g, '').replace(/\\n|\s+/g, '');
  const pieces =
    body.length <= PIECE
      ? [body]
      : body.length <= LONG
        ? [body.slice(-PIECE)]
        : PLACES.map((place) => body.slice(Math.floor(body.length * place)).slice(0, PIECE));
  return pieces.filter(
    (piece) => piece.length >= MIN_SEARCHED_LENGTH && new Set(piece).size >= MIN_DIFFERENT && bitsOf(piece) >= MIN_BITS,
  );
}

/** The bits of a random text of this length and alphabet. */
function bitsOf(piece: string): number {
  const size = ALPHABETS.find(([characters]) => characters.test(piece))?.[1] ?? 64;
  return piece.length * Math.log2(size);
}

const ALPHABETS: readonly (readonly [characters: RegExp, size: number])[] = [
  [/^[\d.:+-]*$/, 10],
  [/^[\da-f.:-]*$/i, 16],
  [/^(?:[a-z]*|[A-Z]*)$/, 26],
  [/^(?:[\da-z]*|[\dA-Z]*)$/, 36],
];

/**
 * Every spelling of the values that is searched for, but escapes, which are decoded before the search: as it is, reversed,
 * in hexadecimal, and in base64 (also its form for URLs) wherever the value begins in what is encoded.
 */
export function spellings(values: readonly string[]): readonly Pattern[] {
  return patternsOf(values, (bytes) => {
    const hex = baseOf(bytes, 4, '0123456789abcdef', 0);
    return [bytes, bytes.toReversed(), hex, upperCase(hex), ...base64Forms(bytes)];
  });
}

/** As {@link spellings}, for the name of a host: in lower case, and also in base32. */
export function spellingsInNames(values: readonly string[]): readonly Pattern[] {
  return patternsOf(values, (bytes) => {
    const hex = baseOf(bytes, 4, '0123456789abcdef', 0);
    const base32 = [0, 1, 2, 3, 4].map((before) => baseOf(bytes, 5, BASE32, before));
    return [bytes, bytes.toReversed(), hex, ...base64Forms(bytes), ...base32].map(lowerCase);
  });
}

function patternsOf(
  values: readonly string[],
  formsOf: (bytes: Uint8Array) => readonly Uint8Array[],
): readonly Pattern[] {
  return values.flatMap((value, index) =>
    piecesOf(value).flatMap((piece) => formsOf(encoder.encode(piece)).map((bytes) => ({ bytes, value: index }))),
  );
}

function base64Forms(bytes: Uint8Array): readonly Uint8Array[] {
  return [0, 1, 2].flatMap((before) => {
    const plain = baseOf(bytes, 6, BASE64, before);
    const forUrls = plain.map((byte) => (byte === PLUS ? MINUS : byte === SLASH ? UNDERSCORE : byte));
    return forUrls.every((byte, at) => byte === plain[at]) ? [plain] : [plain, forUrls];
  });
}

const [PLUS = 0, SLASH = 0, MINUS = 0, UNDERSCORE = 0] = encoder.encode('+/-_');

/**
 * The characters that encode the bytes, where `before` other bytes are encoded before them: without the characters that
 * depend on other bytes too. `bits`: of one character.
 */
function baseOf(bytes: Uint8Array, bits: number, alphabet: string, before: number): Uint8Array {
  const first = Math.ceil((before * 8) / bits);
  const end = Math.floor(((before + bytes.length) * 8) / bits);
  const bitAt = (at: number): number => (((bytes[(at >> 3) - before] ?? 0) >> (7 - (at & 7))) & 1) as number;
  return Uint8Array.from({ length: Math.max(0, end - first) }, (_, index) => {
    let digit = 0;
    for (let bit = 0; bit < bits; bit += 1) digit = digit * 2 + bitAt((first + index) * bits + bit);
    return alphabet.charCodeAt(digit);
  });
}

const [A = 0, Z = 0, LOWER_A = 0, LOWER_Z = 0] = encoder.encode('AZaz');
const lowerCase = (bytes: Uint8Array): Uint8Array => bytes.map((one) => (one >= A && one <= Z ? one + 32 : one));
const upperCase = (bytes: Uint8Array): Uint8Array =>
  bytes.map((one) => (one >= LOWER_A && one <= LOWER_Z ? one - 32 : one));
