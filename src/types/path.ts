declare const relPathBrand: unique symbol;

/**
 * A path inside a project, '/' between components, never absolute, no '.', '..' or empty component.
 * File names are bytes: a byte that is not part of valid UTF-8 stands as the lone surrogate U+DC80..U+DCFF
 * (Python's surrogateescape), so the string is lossless, survives JSON and can be matched like any other.
 */
export type RelPath = string & { readonly [relPathBrand]: true };

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Bytes of a name or path as a lossless string. */
export function decodeBytes(bytes: Uint8Array): string {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    return decodeEscaped(bytes);
  }
}

function decodeEscaped(bytes: Uint8Array): string {
  let out = '';
  for (let i = 0; i < bytes.length; ) {
    const first = bytes[i] as number;
    const length = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
    const chunk = bytes.subarray(i, i + length);
    try {
      if (length === 0 || chunk.length < length) throw new TypeError('not UTF-8');
      out += strictUtf8.decode(chunk);
      i += length;
    } catch {
      out += String.fromCharCode(0xdc00 + first);
      i += 1;
    }
  }
  return out;
}

/** The bytes that a string made by {@link decodeBytes} stands for. */
export function encodeBytes(text: string): Buffer {
  if (!/[\udc80-\udcff]/.test(text)) return Buffer.from(text, 'utf8');
  const parts: Buffer[] = [];
  for (const char of text) {
    const code = char.codePointAt(0) as number;
    parts.push(code >= 0xdc80 && code <= 0xdcff ? Buffer.of(code - 0xdc00) : Buffer.from(char, 'utf8'));
  }
  return Buffer.concat(parts);
}

/** The path as a RelPath, or undefined when it is absolute, empty, or has an empty, '.' or '..' component or a NUL. */
export function parseRelPath(text: string): RelPath | undefined {
  if (text === '' || text.includes('\0')) return undefined;
  for (const part of text.split('/')) if (part === '' || part === '.' || part === '..') return undefined;
  return text as RelPath;
}
