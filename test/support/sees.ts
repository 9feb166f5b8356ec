import type { ChildProcess } from 'node:child_process';

/** Resolves when the command's output has the words, fails when the command ends first. */
export function waitForOutput(child: ChildProcess, words: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        text += chunk.toString();
        if (text.includes(words)) resolve();
      });
    }
    child.once('close', () => reject(new Error(`ended without '${words}':\n${text}`)));
  });
}
