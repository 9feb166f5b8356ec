// How the entries of one directory are packed: count of entries and length of the names (two 32-bit numbers), the names
// with '/' between them, filled to eight bytes, then six 64-bit numbers for each entry, which can be read in place.

/** Kinds of entries, by their number in {@link packHead}. */
export const KIND_LETTERS = 'fdlmg';
/** Numbers of an entry: head, size, mtimeMs, ctimeMs, ino, dev. */
export const FIELDS = 6;
/** Where the names begin. */
export const NAMES_AT = 8;

/** Bytes of a section. */
export function sectionLength(count: number, namesLength: number): number {
  return NAMES_AT + Math.ceil(namesLength / 8) * 8 + count * FIELDS * 8;
}

/** Mode, kind and link count in one number. */
export function packHead(mode: number, kind: string, nlink: number): number {
  return mode + 4096 * (KIND_LETTERS.indexOf(kind) + 8 * nlink);
}

/** Writes one section at that place; `numbers` has {@link FIELDS} of them for each entry. */
export function packSection(into: SharedArrayBuffer, at: number, names: Uint8Array, numbers: Float64Array): void {
  const count = numbers.length / FIELDS;
  new Uint32Array(into, at, 2).set([count, names.length]);
  new Uint8Array(into).set(names, at + NAMES_AT);
  new Float64Array(into, at + sectionLength(count, names.length) - numbers.length * 8, numbers.length).set(numbers);
}
