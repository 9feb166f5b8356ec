declare const relPathBrand: unique symbol;

/**
 * A path inside a project, '/' between components, never absolute, no '.', '..' or empty component.
 * File names are bytes: a byte that is not part of valid UTF-8 becomes the lone surrogate U+DC80..U+DCFF
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
  const parts: string[] = [];
  let from = 0;
  for (let i = 0; i < bytes.length; ) {
    const length = sequenceAt(bytes, i);
    if (length > 0) {
      i += length;
      continue;
    }
    if (from < i) parts.push(strictUtf8.decode(bytes.subarray(from, i)));
    parts.push(String.fromCharCode(0xdc00 + (bytes[i] as number)));
    i += 1;
    from = i;
  }
  if (from < bytes.length) parts.push(strictUtf8.decode(bytes.subarray(from)));
  return parts.join('');
}

/** Length of the well-formed UTF-8 sequence at a position (Unicode, table 3-7), or 0: megabytes of bad bytes stay cheap. */
function sequenceAt(bytes: Uint8Array, at: number): number {
  const first = bytes[at] as number;
  if (first < 0x80) return 1;
  const length = first < 0xc2 || first > 0xf4 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (length === 0 || at + length > bytes.length) return 0;
  const second = bytes[at + 1] as number;
  const low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  if (second < low || second > high) return 0;
  for (let i = at + 2; i < at + length; i += 1) if (((bytes[i] as number) & 0xc0) !== 0x80) return 0;
  return length;
}

/** The bytes of a string that {@link decodeBytes} made. */
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

/** The directory that a relative path is in; '' for an entry at the top. */
export function parentPath(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/** The last component of a relative path. */
export function nameOfPath(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** The folders that a relative path is in, the nearest first; the top of the tree is none of them. */
export function* foldersAbove(path: string): Generator<string> {
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) yield path.slice(0, at);
}

/** All folders above the paths. A folder that is known is not asked for those above it again. */
export function foldersOf(paths: Iterable<string>): Set<string> {
  const folders = new Set<string>();
  for (const path of paths)
    for (const folder of foldersAbove(path)) {
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  return folders;
}

/** Whether a path is below one of the folders. */
export function liesBelow(path: string, folders: ReadonlySet<string>): boolean {
  for (const folder of foldersAbove(path)) if (folders.has(folder)) return true;
  return false;
}
