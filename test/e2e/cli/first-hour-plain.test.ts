import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { Pty } from '../../support/pty.ts';
import { mainJs, Scene } from '../../support/scene.ts';
import { WORK } from './first-hour-work.ts';

const APPROVED = readFileSync(path.join(import.meta.dirname, 'first-hour/80x24/05-review.txt'), 'utf8');
/** The lines of the review, without the data of an agent. */
const REVIEW = APPROVED.slice(APPROVED.indexOf('[sandbox] 3 files'), APPROVED.indexOf("[sandbox] Claude's data"));

/** Colours of text and ground. Reverse video and resets are not colours. */
const COLOUR = /\u001b\[(?:\d+;)*(?:[349]\d|10\d)(?:;\d+)*m/;
/** Whatever moves the cursor or acts otherwise: escape sequences, and a return that does not end a line. */
const CONTROL = /\u001b|\r+(?![\r\n])|[\u0000-\u0007\u000e-\u001a]/;

it.each<[string, Record<string, string>, RegExp]>([
  ['NO_COLOR', { NO_COLOR: '1' }, COLOUR],
  ['TERM=dumb', { TERM: 'dumb' }, CONTROL],
])('with %s, the first hour has the same words, and nothing but text', async (_name, env, forbidden) => {
  await using scene = new Scene({ env: { ...env, PAGER: 'cat' } });
  const screens: string[] = [];
  const run = async (args: readonly string[], talk: (shell: Pty) => Promise<unknown>): Promise<number> => {
    await using shell = scene.pty(args, { columns: 80, rows: 24 });
    await talk(shell);
    const status = await shell.exited;
    screens.push(shell.output);
    return status;
  };
  const read = (...args: string[]): Promise<number> => run(args, (shell) => shell.exited);

  expect(await read('sessions')).toBe(0);
  expect(await read('stauts')).toBe(2);
  const status = await run(['exec', '--copy', '--', 'sh', '-c', WORK], async (shell) => {
    await shell.see(/Start the session\? \[Y\/n\/\?\]:/);
    shell.send('y\r');
    let from = 0;
    for (const answer of ['?', 'l', 'd', 'y']) {
      from = await shell.see(/Apply changes to [\s\S]*?\[y\/N\/d\/s\/l\/(?:r\/)?\?\]:/, { from });
      shell.send(`${answer}\r`);
    }
    await shell.see(/Apply suspect [\s\S]*?\[y\/N[^\n]*\]:/, { from });
    shell.send('n\r');
  });
  expect(status).toBe(121);
  // A terminal whose cursor does not move wraps by itself.
  const words = (text: string): string => text.replaceAll(/\s+/g, ' ');
  expect(words(screens.at(-1) ?? '')).toContain(words(REVIEW));
  for (const words of [['status'], ['diff'], ['sessions']]) expect(await read(...words)).toBe(0);
  for (const screen of screens) expect(screen).not.toMatch(forbidden);

  // The same program on a terminal that may have colours.
  const plain = { ...scene.env, NO_COLOR: '', TERM: 'xterm-256color' };
  await using coloured = new Pty([process.execPath, mainJs, 'diff'], { cwd: scene.project, env: plain });
  await coloured.exited;
  expect(coloured.output).toMatch(forbidden);
});
