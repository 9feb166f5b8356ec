import { checkPrimeSync, createPrivateKey, type KeyObject } from 'node:crypto';

/** Larger keys take seconds. A program that only loads a key does not ask for its size. */
const PRIME_BYTES = 128;
const EXPONENT = 65_537n;
/** Small primes, by which most candidates are refused without a costly test. */
const SMALL = primesBelow(5000);

/** An RSA key of 2048 bits that follows from bytes. `bytes`: gives other ones each time. */
export function rsaKey(bytes: (length: number) => Buffer): KeyObject {
  const [p, q] = [primeFrom(bytes), primeFrom(bytes)];
  if (p === q) return rsaKey(bytes);
  const d = inverse(EXPONENT, (p - 1n) * (q - 1n));
  const numbers = { n: p * q, e: EXPONENT, d, p, q, dp: d % (p - 1n), dq: d % (q - 1n), qi: inverse(q, p) };
  const fields = Object.entries(numbers).map(([name, number]) => [name, bytesOf(number).toString('base64url')]);
  return createPrivateKey({ format: 'jwk', key: { kty: 'RSA', ...Object.fromEntries(fields) } });
}

/** The first prime from a random place on, with both upper bits set: the product of two has all of its bits. */
function primeFrom(bytes: (length: number) => Buffer): bigint {
  const start = bytes(PRIME_BYTES);
  start[0] = (start[0] as number) | 0xc0;
  start[PRIME_BYTES - 1] = (start[PRIME_BYTES - 1] as number) | 1;
  const first = numberOf(start);
  const rests = SMALL.map((one) => Number(first % BigInt(one)));
  for (let offset = 0; ; offset += 2) {
    if (rests.some((rest, at) => (rest + offset) % (SMALL[at] as number) === 0)) continue;
    const candidate = first + BigInt(offset);
    if (candidate % EXPONENT !== 1n && checkPrimeSync(candidate, CHECKS)) return candidate;
  }
}

/** The key protects nothing, so that a composite number which passes these rounds does no harm. */
const CHECKS = { checks: 4 };

/** By Euclid's algorithm. Precondition: the numbers have no common divisor. */
function inverse(number: bigint, modulus: bigint): bigint {
  let [a, b, x, y] = [number % modulus, modulus, 1n, 0n];
  while (a > 1n) [a, b, x, y] = [b % a, a, y - (b / a) * x, x];
  return ((x % modulus) + modulus) % modulus;
}

function primesBelow(limit: number): number[] {
  const found: number[] = [];
  for (let number = 3; number < limit; number += 2) if (found.every((one) => number % one !== 0)) found.push(number);
  return found;
}

const numberOf = (bytes: Buffer): bigint => BigInt(`0x${bytes.toString('hex')}`);

function bytesOf(number: bigint): Buffer {
  const hex = number.toString(16);
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
}
