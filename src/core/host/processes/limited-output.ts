import type { ChildProcessWithoutNullStreams } from 'node:child_process';

/** How a program of the host ended, and what it wrote. */
export interface LimitedOutput {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: Buffer;
  /** Its end: programs say last why they failed. */
  readonly stderr: string;
  /** It was killed after `timeoutMs`. */
  readonly isTimedOut: boolean;
  /** It was killed because it wrote more than `maxOutputBytes`. */
  readonly isTooMuch: boolean;
}

const MAX_ERROR_CHARACTERS = 2_000;

/**
 * Gives a program its input, and waits until it has ended. Rejects with the cause where the program cannot start.
 */
export async function limitedOutput(
  child: ChildProcessWithoutNullStreams,
  input: Buffer | string,
  { timeoutMs, maxOutputBytes }: { readonly timeoutMs: number; readonly maxOutputBytes: number },
): Promise<LimitedOutput> {
  // A program that ends before it has read its input closes the pipe. Its status says why.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const chunks: Buffer[] = [];
  let length = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length > maxOutputBytes) child.kill('SIGKILL');
    else chunks.push(chunk);
  });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk.toString()).slice(-MAX_ERROR_CHARACTERS);
  });
  let isTimedOut = false;
  const timer = setTimeout(() => {
    isTimedOut = true;
    child.kill('SIGKILL');
  }, timeoutMs);
  try {
    const [status, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (...end) => resolve(end));
    });
    return { status, signal, stdout: Buffer.concat(chunks), stderr, isTimedOut, isTooMuch: length > maxOutputBytes };
  } finally {
    clearTimeout(timer);
  }
}
