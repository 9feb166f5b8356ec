import { isUtf8 } from 'node:buffer';
import { closeSync, constants, createReadStream, openSync, realpathSync, statSync, writeSync } from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { usageError } from '../../core/errors.ts';
import type { CommandContext } from '../context/context.ts';

const MAX_FILE_BYTES = 64 << 20;

/** The tasks of a batch as they were written. */
export interface TaskFile {
  /** In messages. */
  readonly name: string;
  readonly text: string;
  /** What names the batch: the real path of its file, or the current directory with `-` behind it. */
  readonly source: string;
}

/**
 * Reads the file, or standard input for `-`.
 *
 * @throws {RunClaudeError} USAGE for what is not a text of at most 64 MB. At an interruption its reason is thrown.
 */
export async function readTaskFile(
  named: string,
  { cwd, tell, interruption }: Pick<CommandContext, 'cwd' | 'tell' | 'interruption'>,
  stdin: Readable & { readonly isTTY?: boolean } = process.stdin,
): Promise<TaskFile> {
  if (named === '-') {
    if (stdin.isTTY === true)
      tell({ kind: 'message', level: 'info', text: 'Reading tasks: one prompt on each line, Ctrl-D after the last.' });
    const name = 'standard input';
    return { name, text: await readText(stdin, name, interruption.signal), source: `${cwd}/-` };
  }
  if (named === '') throw usageError('the name of the file of tasks is empty');
  const file = path.resolve(cwd, named);
  try {
    const text = await readText(createReadStream(file), named, interruption.signal);
    return { name: named, text, source: realpathSync(file) };
  } catch (error) {
    if (interruption.signal.aborted) wakeReader(file);
    const { code } = error as NodeJS.ErrnoException;
    const why =
      code === 'ENOENT'
        ? 'there is no such file'
        : code === 'EISDIR' || isDirectory(file)
          ? 'it is a directory'
          : code === 'EACCES'
            ? 'permission denied'
            : undefined;
    if (why === undefined) throw error;
    throw usageError(`cannot read ${named}: ${why}`);
  }
}

/** A read of a FIFO waits for its writer in a thread that nothing can cancel, and this process could not end. */
function wakeReader(file: string): void {
  if (statSync(file, { throwIfNoEntry: false })?.isFIFO() !== true) return;
  try {
    const fd = openSync(file, constants.O_WRONLY | constants.O_NONBLOCK);
    try {
      writeSync(fd, '\n');
    } finally {
      closeSync(fd);
    }
  } catch {
    // Nobody reads it any more, or it is full and the reader has what it waits for.
  }
}

async function readText(stream: Readable, name: string, signal: AbortSignal): Promise<string> {
  const interrupted = new Promise<never>((_, reject) => {
    const stop = (): void => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([readAll(stream, name), interrupted]);
  } finally {
    stream.destroy();
  }
}

async function readAll(stream: Readable, name: string): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += (chunk as Buffer).length;
    if (size > MAX_FILE_BYTES) throw usageError(`${name} is larger than 64 MB`);
    chunks.push(chunk as Buffer);
  }
  const bytes = Buffer.concat(chunks);
  if (!isUtf8(bytes)) throw usageError(`${name} is not a text in UTF-8`);
  return bytes.toString('utf8');
}

const isDirectory = (file: string): boolean => statSync(file, { throwIfNoEntry: false })?.isDirectory() === true;
