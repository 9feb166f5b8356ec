import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, realpath, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import {
  type EditRequest,
  MAX_RESULT_BYTES,
  MAX_TEXT_FILE_BYTES,
  type ReadRequest,
  type TextResult,
  type WriteRequest,
} from '../requests.ts';

// This runs inside the session's container, as the agent's user: the paths are the container's.

const DEFAULT_LINES = 2000;

/** The lines of a text file that were asked for, each with its number. */
export async function readText({ path: file, offset = 1, limit = DEFAULT_LINES }: ReadRequest): Promise<TextResult> {
  const lines = (await readRegularFile(file)).split('\n');
  if (lines.at(-1) === '') lines.pop();
  const wanted = lines.slice(offset - 1, offset - 1 + limit);
  const kept: string[] = [];
  let size = 0;
  for (const [at, line] of wanted.entries()) {
    const numbered = `${String(offset + at).padStart(6)}\t${line}`;
    size += Buffer.byteLength(numbered) + 1;
    if (size > MAX_RESULT_BYTES) break;
    kept.push(numbered);
  }
  return { text: kept.join('\n'), isCut: offset - 1 + kept.length < lines.length };
}

/** Writes a file with these bytes, by a new file in its place, with the mode of the one that was there. */
export async function writeText({ path: file, content }: WriteRequest): Promise<TextResult> {
  await mkdir(path.dirname(path.resolve(file)), { recursive: true });
  await replaceFile(file, content);
  return { text: `wrote ${Buffer.byteLength(content)} bytes to ${file}`, isCut: false };
}

/** Replaces text that is in a file exactly once, or with `all` at least once. */
export async function editText({ path: file, before, after, all }: EditRequest): Promise<TextResult> {
  const text = await readRegularFile(file);
  if (before === '') throw new Error('the text to replace is empty');
  const count = text.split(before).length - 1;
  if (count === 0) throw new Error(`the text to replace is not in ${file}`);
  if (count > 1 && all !== true) throw new Error(`the text to replace is in ${file} ${count} times: name a longer one`);
  const edited = all === true ? text.split(before).join(after) : replaceFirst(text, before, after);
  await replaceFile(file, edited);
  return { text: `replaced ${count} ${count === 1 ? 'place' : 'places'} in ${file}`, isCut: false };
}

/** Not String.replace: `$&` in the new text has no meaning. */
function replaceFirst(text: string, before: string, after: string): string {
  const at = text.indexOf(before);
  return text.slice(0, at) + after + text.slice(at + before.length);
}

/** The text of a regular file. Never blocks at a FIFO. */
async function readRegularFile(file: string): Promise<string> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) throw new Error(`${file} is not a regular file`);
    if (stat.size > MAX_TEXT_FILE_BYTES) throw new Error(`${file} is larger than ${MAX_TEXT_FILE_BYTES} bytes`);
    const bytes = Buffer.alloc(MAX_TEXT_FILE_BYTES + 1);
    let length = 0;
    for (;;) {
      const { bytesRead } = await handle.read(bytes, length, bytes.length - length, length);
      length += bytesRead;
      if (bytesRead === 0 || length === bytes.length) break;
    }
    if (length > MAX_TEXT_FILE_BYTES) throw new Error(`${file} is larger than ${MAX_TEXT_FILE_BYTES} bytes`);
    const content = bytes.subarray(0, length);
    if (content.includes(0)) throw new Error(`${file} is not a text file`);
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch (error) {
    throw error instanceof TypeError ? new Error(`${file} is not UTF-8`) : error;
  } finally {
    await handle.close();
  }
}

/** A reader sees the old content or the new one. A link is followed, as by an editor. */
async function replaceFile(named: string, content: string): Promise<void> {
  const file = await realpath(named).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return named;
    throw error;
  });
  const mode = await modeOf(file);
  const beside = path.join(path.dirname(file), `.${randomUUID()}.new`);
  const handle = await open(beside, 'wx', mode);
  try {
    try {
      await handle.writeFile(content);
      await handle.chmod(mode);
    } finally {
      await handle.close();
    }
    await rename(beside, file);
  } catch (error) {
    await rm(beside, { force: true }).catch(() => undefined);
    throw error;
  }
}

async function modeOf(file: string): Promise<number> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (handle === undefined) return 0o666 & ~process.umask();
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) throw new Error(`${file} is not a regular file`);
    return stat.mode & 0o777;
  } finally {
    await handle.close();
  }
}
