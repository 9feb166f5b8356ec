import { gunzipSync } from 'node:zlib';

/** Larger archives are not unpacked here; the rule binary-bomb reports those that unpack to far more. */
const MAX_PACKED_BYTES = 16 << 20;
const MAX_UNPACKED_BYTES = 64 << 20;
const MAX_MEMBERS = 100_000;
const BLOCK = 512;
const ZIP_ENTRY = Buffer.from([0x50, 0x4b, 0x01, 0x02]);
const SYMLINK_MODE = 0o12;

/**
 * The first member of a tar or zip archive (also in gzip) that is unpacked outside of the folder it is unpacked in: a
 * path that leaves the folder, or a link to one. Undefined for other content and for archives without such a member.
 */
export function memberOutside(bytes: Buffer): string | undefined {
  if (bytes.length > MAX_PACKED_BYTES) return undefined;
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) {
    const unpacked = gunzip(bytes);
    return unpacked === undefined || !isTar(unpacked) ? undefined : tarMemberOutside(unpacked);
  }
  if (isTar(bytes)) return tarMemberOutside(bytes);
  return bytes.readUInt32BE(0) === 0x504b0304 ? zipMemberOutside(bytes) : undefined;
}

/** Whether the content may be an archive that {@link memberOutside} reads. */
export const isArchive = (bytes: Buffer): boolean =>
  bytes.length > 30 &&
  ((bytes[0] === 0x1f && bytes[1] === 0x8b) || isTar(bytes) || bytes.readUInt32BE(0) === 0x504b0304);

function gunzip(bytes: Buffer): Buffer | undefined {
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_UNPACKED_BYTES });
  } catch {
    // Damaged or too large: no tool unpacks it, or binary-bomb speaks of it.
    return undefined;
  }
}

const isTar = (bytes: Buffer): boolean =>
  bytes.length >= BLOCK && bytes.subarray(257, 262).toString('latin1') === 'ustar';

const leaves = (path: string): boolean => /^([/\\]|[A-Za-z]:[/\\])/.test(path) || path.split(/[/\\]/).includes('..');

function tarMemberOutside(bytes: Buffer): string | undefined {
  let longName: string | undefined;
  let longLink: string | undefined;
  for (let at = 0, count = 0; at + BLOCK <= bytes.length && count < MAX_MEMBERS; count += 1) {
    const text = (from: number, length: number): string =>
      bytes
        .subarray(at + from, at + from + length)
        .toString('utf8')
        .replace(/\0[\s\S]*/, '');
    const type = text(156, 1);
    const size = Number.parseInt(text(124, 12).trim(), 8) || 0;
    const data = bytes.subarray(at + BLOCK, at + BLOCK + size).toString('utf8');
    const prefix = text(345, 155);
    if (text(0, 1) === '') return undefined;
    if (type === 'L') longName = data.replace(/\0[\s\S]*/, '');
    else if (type === 'K') longLink = data.replace(/\0[\s\S]*/, '');
    else if (type === 'x' || type === 'g') {
      longName = /^\d+ path=(.*)$/m.exec(data)?.[1] ?? longName;
      longLink = /^\d+ linkpath=(.*)$/m.exec(data)?.[1] ?? longLink;
    } else {
      const name = longName ?? (prefix === '' ? text(0, 100) : `${prefix}/${text(0, 100)}`);
      const link = type === '1' || type === '2' ? (longLink ?? text(157, 100)) : '';
      if (leaves(name)) return name;
      if (type === '1' ? leaves(link) : link !== '' && linkLeaves(name, link)) return `${name} -> ${link}`;
      longName = undefined;
      longLink = undefined;
    }
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  return undefined;
}

/** Whether a symbolic link of an archive leads out of the folder; links to other members are common. */
function linkLeaves(name: string, target: string): boolean {
  if (/^([/\\]|[A-Za-z]:)/.test(target)) return true;
  let depth = name.split('/').filter((part) => part !== '' && part !== '.').length - 1;
  for (const part of target.split('/')) {
    if (part === '..') depth -= 1;
    else if (part !== '' && part !== '.') depth += 1;
    if (depth < 0) return true;
  }
  return false;
}

function zipMemberOutside(bytes: Buffer): string | undefined {
  let at = bytes.indexOf(ZIP_ENTRY);
  for (let count = 0; at >= 0 && at + 46 <= bytes.length && count < MAX_MEMBERS; count += 1) {
    const nameEnd = at + 46 + bytes.readUInt16LE(at + 28);
    const name = bytes.subarray(at + 46, nameEnd).toString('utf8');
    if (leaves(name)) return name;
    // The target of a link is packed: a link alone is what such an attack needs.
    if (bytes.readUInt16LE(at + 40) >> 12 === SYMLINK_MODE) return `${name}, a link`;
    at = bytes.indexOf(ZIP_ENTRY, nameEnd);
  }
  return undefined;
}
