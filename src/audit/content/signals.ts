import type { Change } from '../../core/types/entry.ts';
import { isCode, isProse, isSource } from '../formats/text-files.ts';
import { type Hit, hitOf } from '../hit.ts';
import { LONGEST_TEXT, type Scene } from '../input.ts';
import { binaryHits, isText } from './binary.ts';
import { characterHits } from './characters.ts';
import { longLineHits, newLineHits } from './new-lines.ts';
import { offScreenHits } from './off-screen.ts';
import { signalsFor } from './signal-rules.ts';

/** What the new content of a file gives away, whatever its name. Only what is new counts. */
export function signalHits(scene: Scene, change: Change): Hit[] {
  const { path } = change;
  const bytes = scene.bytes(change.after);
  if (!Buffer.isBuffer(bytes) || bytes.length === 0 || change.before?.digest === change.after?.digest) return [];
  const movedFrom = change.before === undefined ? scene.movedFrom(change) : undefined;
  if (movedFrom !== undefined && isJudgedAlike(movedFrom, path)) return [];
  const old = scene.bytes(change.before);
  const before = Buffer.isBuffer(old) ? old : undefined;
  const hits = binaryHits(path, before, bytes, change.after?.size ?? bytes.length);
  if (!isText(bytes)) {
    const wasSource = before !== undefined && isText(before) && isCode(path);
    return wasSource ? [...hits, hitOf('text-nul', path)] : hits;
  }
  if (bytes.length > LONGEST_TEXT) return [...hits, hitOf('text-long', path, { detail: `${bytes.length} bytes` })];
  const text = scene.text(change.after) ?? '';
  const oldText = scene.text(change.before);
  const textChange = { path, text, oldText, added: scene.added(change) };
  return [
    ...hits,
    ...encodingHits(path, text, oldText),
    ...characterHits(textChange),
    ...newLineHits(textChange),
    ...longLineHits(textChange),
    ...offScreenHits(textChange),
  ];
}

/** Whether the same bytes are judged in the same way under both names: then a move brings nothing new. */
function isJudgedAlike(from: string, to: string): boolean {
  const extension = (path: string): string => /[^/.]*$/.exec(path)?.[0].toLowerCase() ?? '';
  return (
    extension(from) === extension(to) &&
    [isProse, isSource, isCode].every((isOfKind) => isOfKind(from) === isOfKind(to)) &&
    isSame(signalsFor(from), signalsFor(to))
  );
}

const isSame = (one: ReadonlySet<number>, other: ReadonlySet<number>): boolean =>
  one.size === other.size && [...one].every((number) => other.has(number));

/** Bytes that are not UTF-8 are decoded to single surrogates of this range (text/path.ts). */
const hasInvalidUtf8 = (text: string): boolean =>
  /[\udc80-\udcff]/.test(text.replace(/[\ud800-\udbff][\udc00-\udfff]/g, ''));

function encodingHits(path: string, text: string, oldText: string | undefined): Hit[] {
  const hits: Hit[] = [];
  const counts = (): boolean => (oldText === undefined ? isSource(path) : !hasInvalidUtf8(oldText));
  if (hasInvalidUtf8(text) && counts()) hits.push(hitOf('text-not-utf8', path));
  const hasMark = (one: string): boolean => one.startsWith('\ufeff');
  if (oldText !== undefined && hasMark(text) !== hasMark(oldText)) hits.push(hitOf('text-bom', path));
  return hits;
}
