import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { ask } from '../../../src/terminal/ask.ts';
import type { Screen } from '../../../src/terminal/screen.ts';
import { compileProgram } from '../../support/compile.ts';
import { Pty } from '../../support/pty.ts';
import { ASKED } from '../../support/terminal/asked-questions.ts';

// Every question of run-claude: found in the code, and driven with what users type.

const root = path.resolve(import.meta.dirname, '../../..');
const sources = new Map(
  readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => [`src/${name}`, readFileSync(path.join(root, 'src', name), 'utf8')]),
);
const samples = Object.entries(ASKED).flatMap(([name, all]) => all.map((one) => ({ name, ...one })));

describe('the code', () => {
  it('makes every question in a file questions.ts, and this test has samples of each', () => {
    const made = [...sources].flatMap(([file, text]) =>
      file.endsWith('/questions.ts')
        ? [...text.matchAll(/^export function (\w+)\([\s\S]*?\): Question</gm)].map(([, name]) => `${file} ${name}`)
        : [],
    );
    expect(Object.keys(ASKED).sort()).toEqual(made.sort());
  });

  it('asks nothing but those questions', () => {
    const calls = [...sources].flatMap(([file, text]) =>
      [...text.matchAll(/(?<!function )\bask(?:YesNo)?\(\s*[\w.]*[sS]creen,\s*([\s\S]*?)\)/g)].map(([, what = '']) => ({
        file,
        what,
      })),
    );
    const places = calls.filter(({ file }) => file !== 'src/terminal/ask.ts');
    expect(places.length).toBeGreaterThanOrEqual(Object.keys(ASKED).length);
    for (const { file, what } of places) {
      const text = sources.get(file) ?? '';
      const isMade = /^\w+Question\(/.test(what) || /\b(asked|question)\b/.test(what);
      expect(`${file}: ${isMade} ${/from '.*\/questions\.ts'/.test(text)}`).toBe(`${file}: true true`);
    }
  });

  it('reads an answer in one place only', () => {
    const readers = [...sources].filter(([, text]) => /\b(readLine|dropTyped)\(|import\('enquirer'\)/.test(text));
    expect(readers.map(([file]) => file).sort()).toEqual([
      'src/terminal/ask.ts',
      'src/terminal/read-line.ts',
      'src/terminal/silence.ts',
    ]);
  });
});

describe.each(samples)('$name: $question.text', ({ question, enter }) => {
  it('ends with a mark, and explains itself', () => {
    expect(question.text).toMatch(/(\?|\)|\.|Type '\w+'( to continue)?)$/);
    expect(question.about.length).toBeGreaterThan(0);
    expect(Object.values(question.answers).every((does) => /^[a-z]/.test(does))).toBe(true);
    // What may be typed behind an answer is explained with it, or above.
    expect([...Object.values(question.answers), ...question.about].join(' ')).toMatch(
      question.takes === undefined ? /./ : /FOLDER|all|\*\*/,
    );
  });

  it('is not answered by anything but its answers, on a dumb terminal', async () => {
    const stdin = new PassThrough();
    const stderr = new PassThrough();
    let output = '';
    const lines = ['zzz', 'yy', '?', ''];
    stderr.on('data', (chunk: Buffer) => {
      output += chunk;
      const line = String(chunk).endsWith(': ') ? lines.shift() : undefined;
      if (line !== undefined) stdin.write(`${line}\n`);
    });
    const screen = { stdin, stderr, env: {}, colour: false, dumb: true } as unknown as Screen;
    const once = { ...question, waitsForSilence: false };
    expect((await ask(screen, once))?.key).toBe(enter);
    expect(output.match(/is not an answer here\./g)).toHaveLength(2);
    for (const line of question.about) expect(output).toContain(line);
    for (const does of Object.values(question.answers)) expect(output).toContain(`  ${does.replace(/\)$/, '')}`);
    stdin.end();
    expect(await ask(screen, once)).toBeUndefined();
  });
});

it('each is asked again after junk and ?, Enter is the safe answer, and Ctrl-C and Ctrl-D are none', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'run-claude-ask-'));
  try {
    const program = await compileProgram(path.join(root, 'test/support/terminal/ask-program.ts'));
    const file = path.join(folder, 'answers.json');
    await using pty = new Pty([process.execPath, program, file], {
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8' },
      columns: 200,
      rows: 40,
    });
    let at = 0;
    const see = async (words: string): Promise<void> => {
      at = await pty.see(new RegExp(words.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')), { from: at });
    };
    for (const { question } of samples) {
      await see(question.text);
      pty.send('zzz\r');
      await see("'zzz' is not an answer here.");
      await see(question.text);
      pty.send('?\r');
      await see(question.about[0] ?? '');
      await see(question.text);
      for (const keys of ['\r', '\x03', '\x04']) {
        pty.send(keys);
        // The cursor is hidden when the question is on the screen again.
        if (keys !== '\x04') await see('\x1b[?25l');
      }
    }
    expect(await pty.exited).toBe(0);
    const answers = JSON.parse(readFileSync(file, 'utf8'));
    expect(answers).toEqual(samples.map(({ enter }) => [enter, null, null]));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

it.each(['xterm', 'dumb'])(
  'what is typed before a question is shown does not answer it, with TERM=%s',
  async (term) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'run-claude-ask-'));
    try {
      const program = await compileProgram(path.join(root, 'test/support/terminal/ask-twice-program.ts'));
      const file = path.join(folder, 'answers.json');
      await using pty = new Pty([process.execPath, program, file], {
        cwd: folder,
        env: { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8', TERM: term },
        columns: 80,
        rows: 24,
      });
      await pty.see(/First\?/);
      pty.send('y\r');
      await pty.see(/Working/);
      pty.send('y\ry');
      await pty.see(/Second\?/);
      pty.send('n\r');
      expect(await pty.exited).toBe(0);
      expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(['y', 'n']);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

it.each<[Record<string, string>, boolean]>([
  [{}, true],
  [{ NO_COLOR: '1' }, false],
])('a question on a terminal with %j: colours are %s', async (env, hasColours) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'run-claude-ask-'));
  try {
    const program = await compileProgram(path.join(root, 'test/support/terminal/ask-twice-program.ts'));
    await using pty = new Pty([process.execPath, program, path.join(folder, 'answers.json')], {
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8', TERM: 'xterm', ...env },
    });
    for (const question of [/First\?/, /Second\?/]) {
      await pty.see(question);
      pty.send('y\r');
    }
    expect(await pty.exited).toBe(0);
    // The block of the cursor is reverse video, which is not a colour.
    expect(/\u001b\[(?:\d+;)*(?:[349]\d|10\d)(?:;\d+)*m/.test(pty.output)).toBe(hasColours);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
