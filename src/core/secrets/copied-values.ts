import type { Decoy } from '../types/secret/decoy.ts';
import { entropy } from './formats.ts';
import { isPublishedName } from './names.ts';
import { searchContents } from './search-contents.ts';
import { SearchedValues } from './value-search.ts';

/** A shorter value is in other text by chance. */
const MIN_LENGTH = 12;
/** Bits for each character: words and dates have less. */
const MIN_BITS = 3;

/** Whether a value in another text is a copy of it, and not there by chance. */
export const isTelling = (value: string): boolean => value.length >= MIN_LENGTH && entropy(value) >= MIN_BITS;

/** The secrets of some files, to be found in other ones. Without those that builds of web pages publish. */
export class CopiedValues {
  readonly #values: readonly Decoy[];
  readonly #searched: SearchedValues;

  constructor(values: readonly Decoy[]) {
    this.#values = values.filter(({ name = '', value }) => isTelling(value) && !isPublishedName(name));
    this.#searched = new SearchedValues(this.#values.map(({ value }) => value));
  }

  /** Where a value is from, which is the whole of one of the secrets. */
  sourceOf(value: string): Decoy | undefined {
    return this.#values.find((one) => one.value === value);
  }

  /** The paths of the files whose secrets are in these bytes, also in Base64 or gzip. */
  sourcesIn(bytes: Uint8Array): readonly string[] {
    return [...new Set(this.valuesIn(bytes).map(({ path }) => path))];
  }

  /** The secrets that are in these bytes, as {@link sourcesIn}. */
  valuesIn(bytes: Uint8Array): readonly Decoy[] {
    if (this.#values.length === 0) return [];
    return [...searchContents(this.#searched, bytes)].map((at) => this.#values[at] as Decoy);
  }

  /** The bytes with another text in place of each value; undefined where one is there in another spelling. */
  replaceIn(bytes: Buffer, decoyFor: (value: Decoy) => string): Buffer | undefined {
    const found = [...this.valuesIn(bytes)];
    if (found.length === 0) return bytes;
    // A longer value may have a shorter one in it.
    found.sort((one, other) => other.value.length - one.value.length);
    let text = bytes.toString('latin1');
    for (const one of found) text = text.replaceAll(inLatin1(one.value), () => inLatin1(decoyFor(one)));
    const replaced = Buffer.from(text, 'latin1');
    return searchContents(this.#searched, replaced).size === 0 ? replaced : undefined;
  }
}

const inLatin1 = (value: string): string => Buffer.from(value).toString('latin1');
