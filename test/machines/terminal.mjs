/** A program that has its own terminal, and answers to its questions. */
import { spawn } from 'node:child_process';

const LIMIT_MS = 20 * 60_000;

/**
 * Runs a program and answers its questions in their order.
 * @param {readonly string[]} command
 * @param {readonly (readonly [RegExp, string])[]} answers
 * @returns {Promise<import('./machine.mjs').Result>}
 */
export async function runOnTerminal([program = '', ...words], answers) {
  const child = spawn(program, words);
  const pending = [...answers];
  let output = '';
  let from = 0;
  const read = (/** @type {Buffer} */ bytes) => {
    output += bytes.toString('utf8');
    const [next] = pending;
    if (next === undefined || !next[0].test(output.slice(from))) return;
    from = output.length;
    pending.shift();
    child.stdin.write(next[1]);
  };
  child.stdout.on('data', read);
  child.stderr.on('data', read);
  const timer = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
  const status = await new Promise((resolve) => child.once('close', resolve));
  clearTimeout(timer);
  return { status, output };
}
