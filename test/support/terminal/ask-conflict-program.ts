import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { stderr, stdin } from 'node:process';
import { askConflict } from '../../../src/review/screen/ask/ask-conflict.ts';
import { listenForSignals } from '../../../src/terminal/interruption.ts';
import { layApply } from '../apply/lay.ts';

// Lays out sides.json of the folder argv[2] and applies it, asking about conflicts; result.json says what became of it.
const [root = ''] = process.argv.slice(2);
writeFileSync(path.join(root, 'pid'), String(process.pid));
const sides = JSON.parse(readFileSync(path.join(root, 'sides.json'), 'utf8'));
using interruption = listenForSignals(process);
const screen = { stdin, stderr, env: process.env, colour: false, dumb: false, interruption };
const one = await layApply(path.join(root, 'project'), path.join(root, 'state'), sides);
const said = await one.apply({
  signal: interruption.signal,
  askConflict: (conflict) => askConflict(screen, conflict),
});
// `stty -g` in canonical mode with echo: what a shell expects.
const isCooked = !/ -(icanon|echo) /.test(
  execFileSync('stty', ['-a'], { stdio: ['inherit', 'pipe', 'ignore'] }).toString(),
);
writeFileSync(path.join(root, 'result.json'), JSON.stringify({ said, now: one.now(), isCooked }));
process.exitCode = interruption.by() === undefined ? 0 : 143;
