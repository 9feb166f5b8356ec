import type { ChildProcessByStdio } from 'node:child_process';
import type { Readable } from 'node:stream';

/** A program that was started, and what it has printed so far. */
export interface StartedCommand {
  readonly child: ChildProcessByStdio<null, Readable, Readable>;
  readonly ended: Promise<number | null>;
  output(): string;
}

/** Collects the output of a program, both streams as they come. */
export function collectOutput(child: StartedCommand['child']): StartedCommand {
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString('utf8');
    });
  const ended = new Promise<number | null>((resolve) => {
    child.on('close', resolve);
  });
  return { child, ended, output: () => output };
}
