/** Reads characters in UTF-8, byte by byte. */
export interface CharacterReader {
  /** Whether a character has begun and is not complete. */
  isPartial(): boolean;
  /** Whether this byte may come next in the character that has begun. */
  continues(byte: number): boolean;
  /** The bytes of the character that this one completes; undefined while it is incomplete; `invalid` for a byte that begins none. */
  read(byte: number): Buffer | 'invalid' | undefined;
  /** Forgets a character that has begun. */
  reset(): void;
}

/** Refuses overlong forms, surrogates, and what is above the last character of Unicode. */
export function createCharacterReader(): CharacterReader {
  let bytes: number[] = [];
  return {
    isPartial: () => bytes.length > 0,
    continues(byte) {
      const [first = 0] = bytes;
      if (byte < 0x80 || byte > 0xbf) return false;
      if (bytes.length > 1) return true;
      if (first === 0xe0) return byte >= 0xa0;
      if (first === 0xed) return byte <= 0x9f;
      if (first === 0xf0) return byte >= 0x90;
      if (first === 0xf4) return byte <= 0x8f;
      return true;
    },
    read(byte) {
      if (bytes.length === 0 && (byte < 0xc2 || byte > 0xf4)) return 'invalid';
      bytes.push(byte);
      const [first = 0] = bytes;
      if (bytes.length < (first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2)) return undefined;
      const character = Buffer.from(bytes);
      bytes = [];
      return character;
    },
    reset() {
      bytes = [];
    },
  };
}
