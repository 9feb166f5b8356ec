import type { Change } from '../../core/types/entry.ts';
import { isCode, isProse, isSource } from '../formats/text-files.ts';
import { TEXT_LONG } from '../general-rules/content.ts';
import { runLooks } from '../general-rules/run-looks.ts';
import { type Hit, hitOf } from '../hit.ts';
import { LONGEST_TEXT, type Scene } from '../input.ts';
import { isText } from './binary.ts';
import { newLineHits } from './new-lines.ts';
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
  const hits = runLooks('bytes', path, { path, before, bytes, size: change.after?.size ?? bytes.length });
  if (!isText(bytes)) return hits;
  if (bytes.length > LONGEST_TEXT) return [...hits, hitOf(TEXT_LONG, path, { detail: `${bytes.length} bytes` })];
  const text = scene.text(change.after) ?? '';
  const oldText = scene.text(change.before);
  const textChange = { path, text, oldText, added: scene.added(change) };
  return [...hits, ...runLooks('text', path, textChange), ...newLineHits(textChange)];
}

/** Whether the same bytes are judged in the same way under both names: then a move brings nothing new. */
function isJudgedAlike(from: string, to: string): boolean {
  const extension = (path: string): string => /(?<![^/.])[^/.]*$/.exec(path)?.[0].toLowerCase() ?? '';
  return (
    extension(from) === extension(to) &&
    [isProse, isSource, isCode].every((isOfKind) => isOfKind(from) === isOfKind(to)) &&
    isSame(signalsFor(from), signalsFor(to))
  );
}

const isSame = (one: ReadonlySet<number>, other: ReadonlySet<number>): boolean =>
  one.size === other.size && [...one].every((number) => other.has(number));
