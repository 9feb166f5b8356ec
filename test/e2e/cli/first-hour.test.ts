import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'vitest';
import { firstRows } from '../../support/rows.ts';
import { mainJs, Scene } from '../../support/scene.ts';
import { startMessagesApi, type Turn } from '../../support/stand-in/messages-api.mjs';
import { TerminalScreen } from '../../support/terminal-screen.ts';
import { WORK } from './first-hour-work.ts';

const APPROVED = path.join(import.meta.dirname, 'first-hour');
const QUESTION = /\[y\/N\/d\/s\/l\/(?:r\/)?\?\]:$/;
const PROMPT = /\n\$$/;

const bash = (command: string) => ({ name: 'Bash', input: { command, description: 'step' } });

const TURNS: readonly Turn[] = [
  // Longer than two seconds: from then on the line of a print run shows.
  { text: 'On it.', tools: [bash(WORK)], delayMs: 300 },
  { text: 'The files are changed.' },
  { text: 'Once more.', tools: [bash('echo again >> notes.txt')], delayMs: 1500 },
  { text: 'The notes are longer.' },
];

/** Ids, names and times: what differs from run to run. */
function normalise(screen: string): string {
  return (
    screen
      .replaceAll(/\d{6}-\d{6}-[2-9b-z]{3}/g, 'YYMMDD-HHMMSS-abc')
      .replaceAll(/(?:just now|\d+ min ago)( *)/g, (_, gap: string) =>
        gap === '' || gap === ' ' ? `just now${gap}` : 'just now  ',
      )
      .replaceAll(/(?:\d+ min )?\d+ s\b/g, 'N s')
      // On a slow machine Claude repeats one.
      .replaceAll(/\d+ requests to the model/g, '2 requests to the model')
      .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '00000000-0000-0000-0000-000000000000')
      .replaceAll(/run-claude-scene-\w{6}/g, 'run-claude-scene-XXXXXX')
  );
}

/** A user's machine: a login shell with run-claude on its PATH. */
function openShell(scene: Scene, columns: number, rows: number): TerminalScreen {
  const bin = path.join(scene.root, 'bin');
  mkdirSync(bin);
  writeFileSync(path.join(bin, 'run-claude'), `#!/bin/sh\nexec '${process.execPath}' '${mainJs}' "$@"\n`);
  chmodSync(path.join(bin, 'run-claude'), 0o755);
  const inputrc = path.join(scene.root, 'inputrc');
  writeFileSync(inputrc, 'set enable-bracketed-paste off\n');
  return new TerminalScreen(['bash', '--norc', '--noprofile', '-i'], {
    cwd: scene.project,
    env: { ...scene.env, HOME: scene.root, PATH: `${bin}:${scene.env['PATH']}`, PS1: '$ ', INPUTRC: inputrc },
    columns,
    rows,
    approved: APPROVED,
    normalise,
  });
}

const SIZES = [
  [80, 24],
  [160, 50],
  [100, 35],
] as const;

it.each(firstRows(1, SIZES))('the first hour of a user, at %i×%i: every screen as approved', async (columns, rows) => {
  const standIn = await startMessagesApi({ turns: [...TURNS] });
  await using scene = new Scene({ apiUrl: standIn.url, apiKey: 'sk-ant-REAL-CREDENTIAL-9c1f7a' });
  await using shell = openShell(scene, columns, rows);
  const type = (line: string): void => shell.send(`${line}\r`);
  const command = async (line: string): Promise<void> => {
    await shell.see(/\$$/);
    type(`clear; ${line}`);
  };
  try {
    await command('run-claude version');
    await shell.seeApproved('01-version', PROMPT);
    await command('run-claude sessions');
    await shell.seeApproved('02-no-sessions', PROMPT);
    await command('run-claude stauts');
    await shell.seeApproved('03-mistyped', PROMPT);

    await command(`run-claude --disk 10g -p 'please tidy up'`);
    await shell.seeApproved('04-start', /Start the session\? \[Y\/n\/\?\]:$/);
    type('y');
    await shell.seeApproved('05-review', QUESTION);
    type('l');
    await shell.seeApproved('06-list', QUESTION);
    type('s');
    await shell.seeApproved('07-select', /\(1\/\d\)/);
    for (const [at, answer] of ['n', 'y', 'y', 'n', 'y'].entries()) {
      await shell.see(new RegExp(`\\(${at + 1}/5\\)[^\\n]*:$`));
      type(answer);
    }
    await shell.seeApproved('08-deletions', /Delete src[^\n]*:$/);
    type('n');
    await shell.see(/Apply \d of \d[^\n]*:$/);
    type('y');
    await shell.seeApproved('09-in-part', PROMPT);
    await command('run-claude status');
    await shell.seeApproved('10-status', PROMPT);

    await command(`sed -i s/second/MINE/ src/file2.txt; run-claude apply`);
    await shell.seeApproved('11-apply', QUESTION);
    type('y');
    await shell.see(/Apply suspect[^\n]*:$/);
    type('n');
    await shell.seeApproved('12-conflict', /\[K\/t\/m[^\n]*:$/);
    type('m');
    await shell.seeApproved('13-applied', PROMPT);

    await command('run-claude explore');
    await shell.see(/:\/workspace\$$/);
    type('cat notes.txt; exit');
    await shell.seeApproved('14-explore', PROMPT);
    await command(`run-claude resume -- -p 'go on'`);
    await shell.seeApproved('15-resumed', QUESTION);
    type('y');
    await shell.see(/Apply suspect[^\n]*:$/);
    type('n');
    await shell.seeApproved('16-applied-again', PROMPT);
    await command('run-claude undo');
    await shell.see(/\[y\/N\/\?\]:$/);
    type('y');
    await shell.seeApproved('17-undone', PROMPT);
    await command('run-claude sessions');
    await shell.seeApproved('18-sessions', PROMPT);
  } finally {
    await standIn.close();
  }
});
