import { encodeBytes } from '../../../core/text/path.ts';
import type { ContentReader, Entry } from '../../../core/types/entry.ts';
import type { ReviewItem } from '../../../core/types/review.ts';
import { cleanLine } from '../../../terminal/clean.ts';
import { type Hunk, isBinary, TEXT_LIMIT, textDiff } from '../../choices/file-diff.ts';
import { hunkHead, hunkText } from '../../choices/hunks.ts';
import { binaryBody, type ObjectHash, objectId, ZERO_ID } from './git-binary.ts';

// The form of `git diff --binary --full-index` (git-diff(1), "Generating patch text with -p"; git-apply(1)).

export interface PatchOptions {
  readonly content: ContentReader;
  /** Of the repository that the patch is for. */
  readonly hash: ObjectHash;
  /** The project's folder in its repository, '' or with a slash at its end: git takes names from the repository's top. */
  readonly folder: string;
}

/** What a patch does not have of a change, as a reason; undefined where it has all of it. */
export function whyNotInPatch({ change, state }: ReviewItem): string | undefined {
  const { before, after, kind, problem } = change;
  if (state === 'blocked' || problem !== undefined) return 'blocked';
  if (state === 'withheld') return 'ignored by the project';
  if (before?.kind === 'dir' && after?.kind === 'dir') return 'git keeps no modes of folders';
  if (kind === 'mode' && gitMode(before) === gitMode(after)) return 'git keeps only the executable bit';
  return undefined;
}

/**
 * One change as a patch that `git apply` takes, in pieces. Nothing in it acts on a terminal: a file of which a line does is in
 * git's binary form, and names are quoted as git quotes them. Folders have no patch of their own.
 *
 * @throws what the content's reader throws.
 */
export async function* patchOf(item: ReviewItem, options: PatchOptions): AsyncGenerator<string> {
  const { change, renamedFrom, renamedEntry } = item;
  const { path } = change;
  const before = sideOf(path, change.before, options);
  const after = sideOf(path, change.after, options);
  const renamed = renamedFrom === undefined ? undefined : sideOf(renamedFrom, renamedEntry, options);
  if (renamed !== undefined && after !== undefined && isAlike(renamed, after)) {
    yield* filePatch(renamed, after, item.similarity ?? 0);
    return;
  }
  if (renamed !== undefined) yield* filePatch(renamed, undefined);
  // As git does, a file that became a link is deleted and made.
  if (before !== undefined && after !== undefined && !isAlike(before, after)) {
    yield* filePatch(before, undefined);
    yield* filePatch(undefined, after);
  } else yield* filePatch(before, after);
}

/** A file or a link on one side of a patch. */
interface Side {
  readonly name: string;
  readonly mode: string;
  readonly size: number;
  readonly pieces: () => Iterable<Uint8Array>;
  readonly hash: ObjectHash;
}

function sideOf(path: string, entry: Entry | undefined, { content, folder, hash }: PatchOptions): Side | undefined {
  const mode = gitMode(entry);
  if (entry === undefined || mode === undefined) return undefined;
  const { digest, target = '' } = entry;
  const name = folder + path;
  if (entry.kind === 'symlink') {
    const bytes = encodeBytes(target);
    return { name, mode, size: bytes.length, pieces: () => [bytes], hash };
  }
  return { name, mode, size: entry.size, pieces: () => (digest === undefined ? [] : content.pieces(digest)), hash };
}

function gitMode(entry: Entry | undefined): string | undefined {
  if (entry?.kind === 'symlink') return '120000';
  if (entry?.kind !== 'file') return undefined;
  return (entry.mode & 0o100) === 0 ? '100644' : '100755';
}

/** Whether git takes one for an edit of the other. */
function isAlike(a: Side, b: Side): boolean {
  return (a.mode === '120000') === (b.mode === '120000');
}

async function* filePatch(
  before: Side | undefined,
  after: Side | undefined,
  similarity?: number,
): AsyncGenerator<string> {
  const [old, made] = [before ?? after, after ?? before];
  if (old === undefined || made === undefined) return;
  const { hash } = old;
  const [oldId, newId] = [before ? objectId(before) : ZERO_ID[hash], after ? objectId(after) : ZERO_ID[hash]];
  const isSame = oldId === newId;
  if (isSame && before?.mode === after?.mode && similarity === undefined) return;
  yield `diff --git ${quoted(`a/${old.name}`)} ${quoted(`b/${made.name}`)}\n`;
  if (before === undefined) yield `new file mode ${made.mode}\n`;
  else if (after === undefined) yield `deleted file mode ${old.mode}\n`;
  else if (before.mode !== after.mode) yield `old mode ${before.mode}\nnew mode ${after.mode}\n`;
  if (similarity !== undefined) {
    yield `similarity index ${isSame ? 100 : Math.min(99, similarity)}%\n`;
    yield `rename from ${quoted(old.name)}\nrename to ${quoted(made.name)}\n`;
  }
  if (isSame) return;
  yield `index ${oldId}..${newId}${before !== undefined && before.mode === after?.mode ? ` ${before.mode}` : ''}\n`;
  const hunks = textHunks(before, after);
  if (hunks === undefined) {
    yield* binaryBody(before, after);
    return;
  }
  if (hunks.length === 0) return;
  yield `--- ${before === undefined ? '/dev/null' : nameLine('a', before.name)}\n`;
  yield `+++ ${after === undefined ? '/dev/null' : nameLine('b', after.name)}\n`;
  for (const hunk of hunks) yield `${hunkHead(hunk)}\n${hunkText(hunk)}`;
}

/** The hunks of a text; undefined for what is better in the binary form. */
function textHunks(before: Side | undefined, after: Side | undefined): readonly Hunk[] | undefined {
  if (Math.max(before?.size ?? 0, after?.size ?? 0) > TEXT_LIMIT) return undefined;
  const [a, b] = [bytesOf(before), bytesOf(after)];
  if (isBinary(a) || isBinary(b)) return undefined;
  const diff = textDiff(a, b);
  if (diff.kind !== 'text') return undefined;
  return diff.hunks.every(({ lines }) => lines.every(({ text }) => isHarmless(text))) ? diff.hunks : undefined;
}

function bytesOf(side: Side | undefined): Buffer {
  return Buffer.concat(side === undefined ? [] : [...side.pieces()]);
}

/** Whether a line shows on a terminal as it is. The carriage return before a line feed is the line's ending. */
function isHarmless(line: string): boolean {
  return line
    .replace(/\r?\n$/, '')
    .split('\t')
    .every((part) => cleanLine(part) === part);
}

/** git ends a name that has blanks with a tab: other programs take what follows a blank for a time. */
function nameLine(side: 'a' | 'b', name: string): string {
  return `${quoted(`${side}/${name}`)}${name.includes(' ') ? '\t' : ''}`;
}

const LETTERS: Readonly<Record<number, string>> = {
  7: 'a',
  8: 'b',
  9: 't',
  10: 'n',
  11: 'v',
  12: 'f',
  13: 'r',
  34: '"',
  92: '\\',
};

/** A name as git writes it with core.quotePath, its default: in quotes where it has other than plain characters. */
function quoted(name: string): string {
  let text = '';
  for (const byte of encodeBytes(name)) {
    const letter = LETTERS[byte];
    if (letter !== undefined) text += `\\${letter}`;
    else if (byte < 0x20 || byte >= 0x7f) text += `\\${byte.toString(8).padStart(3, '0')}`;
    else text += String.fromCharCode(byte);
  }
  return text === name ? name : `"${text}"`;
}
