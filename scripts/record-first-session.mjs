// Records the README's first session:  node scripts/record-first-session.mjs [FOLDER]   (default: docs)
// It writes first-session.svg, and review.svg: one screen of the review.
// A real shell in a real terminal, the built run-claude, a real engine and the real Claude Code, whose model is a script
// on this machine's loopback. Build before. What differs from run to run (paths, ids, seconds) is replaced, and each
// screen is shown as long as SCENES says, so that the same screens give the same file.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import xterm from '@xterm/headless';
import { drawRecording } from './draw-recording.mjs';
import { TURNS, writeSample } from './sample-session.mjs';

const root = path.dirname(import.meta.dirname);
/** The scripted model is a program of the tests, which no script is built on: it is loaded by its path. */
const MODEL = path.join(root, 'test/support/stand-in/messages-api.mjs');
const COLUMNS = 80;
const ROWS = 24;
const WAIT_MS = 90_000;
const KEYS_AT_ONCE = 2;
const KEY_MS = 90;
/** As long as the temporary one, so that no line breaks at another place. */
const SHOWN_HOME = '/home/grace';
const COLOURS = ['#484f58', '#ff7b72', '#7ee787', '#f2cc60', '#79c0ff', '#d2a8ff', '#56d4dd', '#c9d1d9'];
const TEXT = '#c9d1d9';
const DIM = '#8b949e';

/** What the model does in a session that takes 18 seconds. */
const SECONDS = ['2', '4', '7', '10', '14', '17'];

/**
 * Keys to type, then what to wait for; it stays on the screen for `ms`. `turn`: the model gives this answer then.
 * @type {{ type?: string, enter?: boolean, keys?: string, see: RegExp, ms: number, turn?: number }[]}
 */
const SCENES = [
  { see: /\$ $/, ms: 800 },
  {
    type: "run-claude --copy -p 'The test fails. Fix the code.'",
    enter: true,
    see: /Start the session\?/,
    ms: 3000,
  },
  { enter: true, see: /Running for .* 1 request, 0 files/, ms: 1000 },
  { turn: 0, see: /2 requests, Bash, 0 files/, ms: 1000 },
  { turn: 1, see: /3 requests, Read, 0 files/, ms: 1000 },
  { turn: 2, see: /4 requests, Write, 2 files: CHANGES/, ms: 1000 },
  { turn: 3, see: /5 requests, Bash, 3 files: Makefile/, ms: 1200 },
  { turn: 4, see: /Apply changes to/, ms: 4500 },
  { type: 'y', enter: true, see: /Apply suspect/, ms: 2500 },
  { type: 'n', enter: true, see: /Applied \d of \d[\s\S]*\$ $/, ms: 3000 },
  { type: 'git status --short', enter: true, see: /\?\? CHANGES\.md[\s\S]*\$ $/, ms: 4000 },
];

/** The screen of review.svg: a suspect change with its reasons, and its question. */
const REVIEW = /Apply suspect/;

/** What differs from run to run. @type {[RegExp, string | ((...match: string[]) => string)][]} */
const REPLACED = [
  [/\d{6}-\d{6}-[2-9b-z]{3}/g, '261127-101500-abc'],
  [/Running for .*?, (\d) request/g, (_, count) => `Running for ${SECONDS[Number(count)] ?? '17'} s, ${count} request`],
  [/requests to the model in .*? s,/g, 'requests to the model in 18 s,'],
  [/\d+g disk/g, '20g disk'],
];

/** @param {import('@xterm/headless').IBufferCell} cell */
function lookOf(cell) {
  const isPalette = cell.isFgPalette() && cell.getFgColor() < 16;
  const colour = isPalette ? COLOURS[cell.getFgColor() % 8] : cell.isDim() ? DIM : TEXT;
  return { colour: colour ?? TEXT, isBold: cell.isBold() !== 0, isInverse: cell.isInverse() !== 0 };
}

/** Text of a row in place of another, with the looks of the places. @param {import('./draw-recording.mjs').Cell[]} row
 * @param {[RegExp, any][]} replaced */
function withReplaced(row, replaced) {
  const text = row.map(({ char }) => char).join('');
  const shown = replaced.reduce((done, [pattern, by]) => done.replace(pattern, by), text);
  if (shown === text) return row;
  const plain = { colour: TEXT, isBold: false, isInverse: false };
  return Array.from(shown.padEnd(COLUMNS).slice(0, COLUMNS), (char, at) => ({ ...(row[at] ?? plain), char }));
}

/** A terminal with a shell in it, and the screens that were recorded. */
class Recorder {
  /** @type {import('./draw-recording.mjs').Frame[]} */
  frames = [];
  /** @type {import('./draw-recording.mjs').Frame | undefined} */
  review;

  /** @param {string} home @param {Record<string, string>} env @param {string} cwd */
  constructor(home, env, cwd) {
    this.replaced = [[new RegExp(home, 'g'), SHOWN_HOME], ...REPLACED];
    this.terminal = new xterm.Terminal({ cols: COLUMNS, rows: ROWS, allowProposedApi: true });
    const shell = `stty cols ${COLUMNS} rows ${ROWS}; exec bash --noprofile --norc`;
    this.child = spawn('script', ['-qefc', shell, '/dev/null'], { cwd, env, stdio: ['pipe', 'pipe', 'inherit'] });
    this.child.stdout.on('data', (/** @type {Buffer} */ bytes) => this.terminal.write(bytes));
  }

  screen() {
    const { active } = this.terminal.buffer;
    return Array.from({ length: ROWS }, (_, y) => {
      const line = active.getLine(active.viewportY + y);
      const row = Array.from({ length: COLUMNS }, (_, x) => {
        const cell = line?.getCell(x);
        if (cell === undefined) return { char: ' ', colour: TEXT, isBold: false, isInverse: false };
        return { char: cell.getWidth() === 0 ? '' : cell.getChars() || ' ', ...lookOf(cell) };
      });
      return withReplaced(row, this.replaced);
    });
  }

  /** @param {number} ms */
  keep(ms) {
    const { cursorX, cursorY } = this.terminal.buffer.active;
    this.frames.push({ rows: this.screen(), cursor: { row: cursorY, column: Math.min(cursorX, COLUMNS - 1) }, ms });
  }

  text() {
    const lines = this.screen().map((row) =>
      row
        .map(({ char }) => char)
        .join('')
        .trimEnd(),
    );
    const { cursorX, cursorY } = this.terminal.buffer.active;
    // Up to the cursor, so that a prompt is seen as the last thing.
    return [...lines.slice(0, cursorY), (lines[cursorY] ?? '').padEnd(cursorX).slice(0, cursorX)].join('\n');
  }

  /** @param {RegExp} pattern */
  async see(pattern) {
    const deadline = Date.now() + WAIT_MS;
    let before = '';
    for (;;) {
      const text = this.text();
      // The same twice: it has been drawn to its end.
      if (pattern.test(text) && text === before) return;
      if (Date.now() > deadline) throw new Error(`${pattern} does not show:\n${text}`);
      before = text;
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
  }

  /** @param {string} text */
  async type(text) {
    for (let at = 0; at < text.length; at += KEYS_AT_ONCE) {
      const length = this.text().length;
      this.child.stdin.write(text.slice(at, at + KEYS_AT_ONCE));
      const deadline = Date.now() + WAIT_MS;
      while (this.text().length === length && Date.now() < deadline)
        await new Promise((resolve) => setTimeout(resolve, 10));
      this.keep(KEY_MS);
    }
  }

  stop() {
    this.child.kill();
    this.terminal.dispose();
  }
}

/** An answer of the model that is given once it is released. @param {(typeof TURNS)[number]} turn */
function heldTurn(turn) {
  let release = () => undefined;
  const after = new Promise((resolve) => {
    release = () => void resolve(undefined);
  });
  return { turn: { ...turn, after }, release };
}

/** @param {string} home */
async function record(home) {
  const project = path.join(home, 'greeter');
  const bin = path.join(home, '.bin');
  mkdirSync(bin);
  const command = `#!/bin/sh\nexec '${process.execPath}' '${path.join(root, 'dist/main.js')}' "$@"\n`;
  writeFileSync(path.join(bin, 'run-claude'), command, { mode: 0o755 });
  writeSample(project);
  const held = TURNS.map(heldTurn);
  const { startMessagesApi } = await import(MODEL);
  const model = await startMessagesApi({ turns: held.map(({ turn }) => turn) });
  const recorder = new Recorder(
    home,
    {
      PATH: `${bin}:${path.dirname(process.execPath)}:${process.env['PATH'] ?? '/usr/bin:/bin'}`,
      HOME: home,
      LANG: 'C.UTF-8',
      TERM: 'xterm-256color',
      SHELL: '/bin/sh',
      PS1: '\\[\\e[32m\\]~/greeter\\[\\e[0m\\] $ ',
      GIT_CONFIG_NOSYSTEM: '1',
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: 'sk-ant-sample-key-of-the-scripted-model',
    },
    project,
  );
  try {
    for (const { type, enter, see, ms, turn } of SCENES) {
      if (turn !== undefined) held[turn]?.release();
      if (type !== undefined) await recorder.type(type);
      // run-claude drops what is typed within half a second after the agent's end.
      if (enter) {
        await new Promise((resolve) => setTimeout(resolve, 700));
        recorder.child.stdin.write('\r');
      }
      await recorder.see(see);
      recorder.keep(ms);
      if (see.source === REVIEW.source) recorder.review = recorder.frames.at(-1);
      process.stderr.write(`${String(see)}\n`);
    }
    return recorder;
  } finally {
    for (const { release } of held) release();
    recorder.stop();
    await model.close();
  }
}

const home = mkdtempSync('/tmp/');
try {
  const { frames, review } = await record(home);
  const folder = process.argv[2] ?? path.join(root, 'docs');
  const look = { columns: COLUMNS, rows: ROWS };
  const film = drawRecording(frames, {
    ...look,
    title: 'A first session of run-claude',
    description:
      'Claude Code fixes a failing test on a copy of the project. run-claude blocks a git hook, warns about the Makefile, and applies what the user takes.',
  });
  writeFileSync(path.join(folder, 'first-session.svg'), film);
  const still = drawRecording(review === undefined ? [] : [review], {
    ...look,
    title: 'The review of a session',
    description:
      'After the agent has ended: a blocked git hook, a suspect Makefile with the reasons and the changed lines, and the question whether to apply it.',
  });
  writeFileSync(path.join(folder, 'review.svg'), still);
  const seconds = frames.reduce((sum, { ms }) => sum + ms, 0) / 1000;
  process.stderr.write(`${folder}: ${Math.round(film.length / 1024)} KB, ${frames.length} screens, ${seconds} s\n`);
} finally {
  rmSync(home, { recursive: true, force: true });
}
