import { writeFileSync } from 'node:fs';
import { stderr, stdin } from 'node:process';
import { ask } from '../../../src/terminal/ask.ts';
import { ASKED } from './asked-questions.ts';

// Asks each question of run-claude three times on this terminal; the file argv[2] gets what each answer was.
const [file = ''] = process.argv.slice(2);
const screen = { stdin, stderr, env: process.env, colour: true, dumb: false };
const answers: (string | null)[][] = [];
for (const { question } of Object.values(ASKED).flat()) {
  const of: (string | null)[] = [];
  for (const waitsForSilence of [question.waitsForSilence === true, false, false]) {
    const answer = await ask(screen, { ...question, waitsForSilence });
    of.push(answer?.key ?? null);
  }
  answers.push(of);
}
writeFileSync(file, JSON.stringify(answers));
