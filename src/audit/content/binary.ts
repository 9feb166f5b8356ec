import { nameOfPath } from '../../core/text/path.ts';
import { isCode } from '../formats/text-files.ts';
import type { Found } from '../general-rules/rule.ts';
import { isArchive, memberOutside } from './archives.ts';
import type { BytesChange } from './text-change.ts';

/** Programs by their first bytes. */
const MAGIC: readonly (readonly [string, readonly (readonly [number, readonly number[]])[]])[] = [
  ['an ELF program', [[0, [0x7f, 0x45, 0x4c, 0x46]]]],
  ['a Mach-O program', [[0, [0xfe, 0xed, 0xfa, 0xce]]]],
  ['a Mach-O program', [[0, [0xfe, 0xed, 0xfa, 0xcf]]]],
  ['a Mach-O program', [[0, [0xce, 0xfa, 0xed, 0xfe]]]],
  ['a Mach-O program', [[0, [0xcf, 0xfa, 0xed, 0xfe]]]],
  ['Java classes or a universal Mach-O program', [[0, [0xca, 0xfe, 0xba, 0xbe]]]],
  [
    'a Windows program',
    [
      [0, [0x4d, 0x5a]],
      [2, []],
    ],
  ],
  ['an Android program', [[0, [0x64, 0x65, 0x78, 0x0a]]]],
  ['WebAssembly', [[0, [0x00, 0x61, 0x73, 0x6d]]]],
  ['a library archive', [[0, [0x21, 0x3c, 0x61, 0x72, 0x63, 0x68, 0x3e, 0x0a]]]],
  ['LLVM bitcode', [[0, [0x42, 0x43, 0xc0, 0xde]]]],
  ['Lua bytecode', [[0, [0x1b, 0x4c, 0x75, 0x61]]]],
  ['Emacs bytecode', [[0, [0x3b, 0x45, 0x4c, 0x43]]]],
  [
    'compiled Erlang',
    [
      [0, [0x46, 0x4f, 0x52, 0x31]],
      [8, [0x42, 0x45, 0x41, 0x4d]],
    ],
  ],
];
const ARCHIVES: readonly (readonly [string, RegExp, readonly number[]])[] = [
  [
    'zip',
    /\.(zip|jar|war|aar|apk|docx|xlsx|pptx|odt|ods|whl|egg|nupkg|vsix|xpi|epub|ipa|pyz|npz|sketch|fig|kra|3mf|cbz)$/i,
    [0x50, 0x4b, 0x03, 0x04],
  ],
  ['gzip', /\.(gz|tgz|svgz|crate|apk|rds|rdata|nii|dia|adz|tar\.gz)$/i, [0x1f, 0x8b]],
  ['xz', /\.(xz|txz|lzma)$/i, [0xfd, 0x37, 0x7a, 0x58, 0x5a]],
  ['zstd', /\.(zst|tzst)$/i, [0x28, 0xb5, 0x2f, 0xfd]],
];
const MEDIA = /\.(png|jpe?g|gif|webp|bmp|ico|avif|tiff?|woff2?|ttf|otf|mp[34]|ogg|wav|pdf)$/i;
const MEDIA_MAGIC: readonly (readonly [RegExp, readonly (readonly number[])[]])[] = [
  [/\.png$/i, [[0x89, 0x50, 0x4e, 0x47]]],
  [/\.jpe?g$/i, [[0xff, 0xd8, 0xff]]],
  [/\.gif$/i, [[0x47, 0x49, 0x46, 0x38]]],
  [/\.pdf$/i, [[0x25, 0x50, 0x44, 0x46]]],
  [/\.webp$/i, [[0x52, 0x49, 0x46, 0x46]]],
];
const BYTECODE =
  /\.(pyc|pyo|elc|zwc|luac|beam|class|fasl|jsc|hbc|node|syso|zo|pkl|pickle|joblib|dill|so|dylib|dll|exe|com|scr|pyd|o|a|lib|obj|rlib|wasm|bc)(\.\d+)*$/i;
const PACKAGES = /\.(vsix|xpi|crx|nupkg|gem|whl|jar|war|ear|aar|apk|ipa|deb|rpm|dmg|pkg|msi|appimage|pyz|egg|phar)$/i;

/** Whether there is no NUL in the first 64 KB. */
export function isText(bytes: Buffer): boolean {
  return bytes.subarray(0, 65_536).indexOf(0) < 0;
}

function startsWith(bytes: Buffer, magic: readonly number[], at = 0): boolean {
  return bytes.length >= at + magic.length && magic.every((byte, index) => bytes[at + index] === byte);
}

export function archiveOutside({ bytes }: BytesChange): readonly Found[] {
  const outside = isArchive(bytes) ? memberOutside(bytes) : undefined;
  return outside === undefined ? [] : [{ detail: outside }];
}

/** Source that was text and is no longer. */
export const textBecameBinary = ({ path, before, bytes }: BytesChange): readonly Found[] =>
  before !== undefined && !isText(bytes) && isText(before) && isCode(path) ? [{}] : [];

/** Objects that run code when they are read: a pickle from its first opcode to its last, Java, R. */
function isSerialized(bytes: Buffer): boolean {
  if (bytes.length < 4) return false;
  const isPickle = bytes[0] === 0x80 && (bytes[1] ?? 9) >= 2 && (bytes[1] ?? 9) <= 5 && bytes.at(-1) === 0x2e;
  const head = bytes.subarray(0, 64).toString('latin1');
  const isModelWithCode = head.startsWith('\x89HDF') && bytes.includes('Lambda');
  return (
    isPickle ||
    isModelWithCode ||
    /^\xac\xed\x00\x05|^RD[XAB][23]\n/.test(head) ||
    /^c[\w.]{1,40}\n[\w.]{1,40}\n[(\])]/.test(head)
  );
}

/** Programs, packages and objects that run. */
export function programInBinary({ path, bytes }: BytesChange): readonly Found[] {
  const program = MAGIC.find(
    ([name, parts]) =>
      parts.every(([at, magic]) => startsWith(bytes, magic, at)) && (name !== 'a Windows program' || !isText(bytes)),
  )?.[0];
  if (program !== undefined) {
    const isHidden = !BYTECODE.test(path) && /\.[a-z0-9]+$/i.test(path);
    const detail = isHidden ? `${program}, under the name of another type of file` : program;
    return [{ rule: 'binary-program', detail }];
  }
  if (isSerialized(bytes)) return [{ rule: 'binary-program', case: 'serialized' }];
  if (BYTECODE.test(path) && !isText(bytes))
    return [{ rule: 'binary-program', case: 'bytecode', detail: 'by its name' }];
  return PACKAGES.test(path) ? [{ rule: 'binary-package' }] : [];
}

/** Content that is not what the name says, and pictures and arrays with more in them than they show. */
export function disguise({ path, bytes }: BytesChange): readonly Found[] {
  const head = bytes.subarray(0, 1024).toString('latin1');
  const found: Found[] = [];
  const archive = ARCHIVES.find(([, , magic]) => startsWith(bytes, magic));
  if (archive !== undefined && !archive[1].test(path))
    found.push({ rule: 'binary-disguised', detail: `${archive[0]} content` });
  const media = MEDIA_MAGIC.find(([name]) => name.test(path));
  const isMedia = media === undefined || media[1].some((magic) => startsWith(bytes, magic));
  if (!isMedia && !head.startsWith('version https://git-lfs')) found.push({ rule: 'binary-disguised' });
  if (MEDIA.test(path) && /^#!|<\?php|<script|<html/i.test(head))
    found.push({ rule: 'binary-disguised', case: 'script' });
  if (/\.npy$/i.test(path) && /'\|O'|"\|O"/.test(head)) found.push({ rule: 'binary-program', case: 'numpy' });
  if (/\.png$/i.test(path) && hasTrailingData(bytes)) found.push({ rule: 'binary-disguised', case: 'trailing' });
  return found;
}

/** Whether a PNG has data after its last chunk, IEND, or no such chunk at all. */
function hasTrailingData(bytes: Buffer): boolean {
  if (!startsWith(bytes, [0x89, 0x50, 0x4e, 0x47])) return false;
  const end = bytes.lastIndexOf('IEND');
  return end < 0 || bytes.length - (end + 8) > 16;
}

const MAX_UNPACK_RATIO = 200;

/** gzip stores its unpacked size in the last four bytes (modulo 4 GB); a zip lists sizes in its directory. */
export function bomb({ path, before, bytes, size }: BytesChange): readonly Found[] {
  if (before !== undefined && isText(before) && !isText(bytes)) return [];
  let unpacked = 0;
  if (startsWith(bytes, [0x1f, 0x8b]) && bytes.length > 18) unpacked = bytes.readUInt32LE(bytes.length - 4);
  if (startsWith(bytes, [0x50, 0x4b, 0x03, 0x04])) unpacked = zipSize(bytes);
  if (unpacked <= 1 << 20 || unpacked <= size * MAX_UNPACK_RATIO) return [];
  return [{ detail: `${nameOfPath(path)}: ${unpacked} bytes from ${size}` }];
}

/** The sum of the unpacked sizes in a zip's directory, in bytes. */
function zipSize(bytes: Buffer): number {
  let total = 0;
  const entry = Buffer.from([0x50, 0x4b, 0x01, 0x02]);
  for (let at = bytes.indexOf(entry), seen = 0; at >= 0 && seen < 100_000; at = bytes.indexOf(entry, at + 4), seen++)
    if (at + 28 <= bytes.length) total += bytes.readUInt32LE(at + 24);
  return total;
}
