import { writeFileSync } from 'node:fs';
import { stderr, stdin } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { ask, type Question } from '../../../src/terminal/ask.ts';

// Asks two questions on this terminal, with work of half a second between them; the file argv[2] gets the answers.
const [file = ''] = process.argv.slice(2);
const colour = process.env['NO_COLOR'] === undefined;
const screen = { stdin, stderr, env: process.env, colour, dumb: process.env['TERM'] === 'dumb' };
const asks = (text: string): Question<'y' | 'n'> => {
  return { text, about: ['Nothing.'], answers: { y: 'do it', n: 'leave it' }, onEnter: 'n' };
};
const first = await ask(screen, asks('First?'));
stderr.write('Working\n');
await sleep(500);
const second = await ask(screen, asks('Second?'));
writeFileSync(file, JSON.stringify([first?.key, second?.key]));
