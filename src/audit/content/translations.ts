import type { Found } from '../general-rules/rule.ts';
import type { BytesChange } from './text-change.ts';

/** The first four bytes, in either order (GNU gettext manual, "The Format of GNU MO Files"). */
const MAGIC = ['de120495', '950412de'];
const HEADER_BYTES = 28;
/** Numbers, `n` and operators of C. Some libraries give the formula to an interpreter. */
const FORMULA = /plural-forms: *nplurals *= *\d{1,2}; *plural *= *[n\d ()?:&|!=<>%+*/-]{1,1000}(?:; *)?(?=[\n\0]|$)/gi;

/** A compiled translation that no library reads as one, or whose formula for plurals is more than that. */
export function compiledTranslation({ path, bytes, size }: BytesChange): readonly Found[] {
  // Text under this name is a model of Modelica.
  if (!/\.g?mo$/i.test(path) || bytes.length === 0 || !bytes.subarray(0, 65_536).includes(0)) return [];
  if (!isWhole(bytes, size)) return [{}];
  const text = bytes.toString('latin1');
  const named = text.match(/plural-forms/gi)?.length ?? 0;
  return named === (text.match(FORMULA)?.length ?? 0) ? [] : [{ case: 'formula' }];
}

/** Whether the tables of texts are in the file. */
function isWhole(bytes: Buffer, size: number): boolean {
  if (bytes.length < HEADER_BYTES || !MAGIC.includes(bytes.toString('hex', 0, 4))) return false;
  const isLittle = bytes[0] === 0xde;
  const [count, originals, translations] = [8, 12, 16].map((at) =>
    isLittle ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at),
  ) as [number, number, number];
  return [originals, translations].every((at) => at >= HEADER_BYTES && at + 8 * count <= size);
}
