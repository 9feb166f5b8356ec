// attach-program.mjs HOW FILE: attaches this terminal to a container that prints FILE and ends (HOW: ends), or after
// which this process ends in the middle (HOW: dies). HOW plain: prints FILE to the terminal as it is.
import { readFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { attachTerminal } from '../../dist/terminal/attach.js';

const [how, file] = process.argv.slice(2);
const hostile = readFileSync(file);
if (how === 'plain') {
  process.stdin.setRawMode(true);
  await new Promise((done) => process.stdout.write(hostile, done));
  process.kill(process.pid, 'SIGKILL');
}
const stdout = new PassThrough();
let end;
const ended = new Promise((resolve) => {
  end = resolve;
});
const container = {
  id: 'x',
  name: 'x',
  stdout,
  stderr: new PassThrough(),
  stdin: new PassThrough().resume(),
  start: async () => {
    stdout.write(hostile);
    await sleep(300);
    if (how === 'dies') process.exit(3);
    stdout.end();
    end(0);
  },
  wait: () => ended,
  kill: async () => undefined,
  resize: async () => undefined,
};
const { stdin, stderr } = process;
await attachTerminal(container, {
  streams: { stdin, stdout: process.stdout, stderr },
  tty: true,
  stdin: true,
  signals: process,
});
