import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Terminal } from '@xterm/headless';
import { expect, it } from 'vitest';
import { createTerminalFilter } from '../../../../src/terminal/attach/filter.ts';
import { Pty } from '../../../support/pty.ts';
import { mainJs, Scene } from '../../../support/scene.ts';
import { startMessagesApi } from '../../../support/stand-in/messages-api.mjs';

const SIZE = { cols: 110, rows: 36, allowProposedApi: true, scrollback: 2000 };
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface Shown {
  /** Every cell with its colours, the cursor, which of the two screens. */
  readonly screen: string;
  readonly title: string;
  /** The terminal's answers, which arrive as if typed. */
  readonly typed: string;
}

/** What a terminal makes of these bytes. */
async function render(bytes: Buffer): Promise<Shown> {
  const terminal = new Terminal(SIZE);
  let title = '';
  let typed = '';
  terminal.onTitleChange((text) => {
    title = text;
  });
  terminal.onData((text) => {
    typed += text;
  });
  await new Promise<void>((resolve) => terminal.write(bytes, resolve));
  const { active } = terminal.buffer;
  const cells = (y: number): string =>
    Array.from({ length: SIZE.cols }, (_, x) => {
      const cell = active.getLine(y)?.getCell(x);
      if (cell === undefined) return '';
      const colours = [cell.getFgColorMode(), cell.getFgColor(), cell.getBgColorMode(), cell.getBgColor()].join('.');
      return `${cell.getChars()}/${colours}${cell.isBold()}${cell.isInverse()}${cell.isDim()}${cell.isItalic()}${cell.isUnderline()}`;
    }).join(' ');
  const lines = Array.from({ length: active.length }, (_, y) => cells(y));
  return { screen: `${lines.join('\n')}\n${active.cursorX},${active.cursorY} ${active.type}`, title, typed };
}

/** Version, keyboard, kind of terminal, an answer to a number, a report of each change of the colour scheme. */
const ASKING = /\x1b\[>0?q|\x1b\[\?u|\x1b\[[>?]?0?c|\x1b\]\d+;\?(?:\x07|\x1b\\)|\x1b\[\?2031[hl]/g;
const DIFF = { file_path: '/workspace/src/file1.txt', old_string: 'second line', new_string: 'QZQZQZ line' };
const MARKDOWN =
  '# Heading\n\nSome **bold** and `code`, [a link](https://example.org/x).\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```js\nlet x = 1;\n```\n\nXKXKXK';
/** The bytes as text that the audit lets pass: a recording is full of control characters. */
const RECORD = (file: string, program: string): string =>
  `script -qefc "${program}" /tmp/${file}; od -An -v -tx1 /tmp/${file} >${file}.txt`;
const TRUST = '{"hasCompletedOnboarding":true,"theme":"dark"}';

it('Claude’s own screens look the same through the filter, which removes only terminal queries', async () => {
  const standIn = await startMessagesApi({
    turns: [
      { text: MARKDOWN },
      { text: 'reading', tools: [{ name: 'Read', input: { file_path: DIFF.file_path } }] },
      { text: 'editing', tools: [{ name: 'Edit', input: DIFF }] },
      { text: 'WVWVWV' },
    ],
  });
  await using scene = new Scene({ apiUrl: standIn.url, apiKey: 'sk-ant-REAL-CREDENTIAL-9c1f7a' });
  const script = `${RECORD('first', 'claude --permission-mode default')}
mkdir -p /tmp/h && echo '${TRUST}' >/tmp/h/.claude.json && export HOME=/tmp/h && ${RECORD('second', 'claude')}`;
  const argv = ['exec', '--yes', '--auto-apply', scene.project, '--', 'sh', '-c', script];
  await using pty = new Pty([process.execPath, mainJs, ...argv], {
    cwd: scene.project,
    env: scene.env,
    columns: SIZE.cols,
    rows: SIZE.rows,
  });
  try {
    let at = await pty.see(/for shortcuts|\/effort/);
    await pause(2000);
    pty.send('/');
    at = await pty.see(/\/add-dir/, { from: at });
    await pty.type('\u007f');
    await pty.enter('show');
    at = await pty.see(/XKXKXK/, { from: at });
    pty.resize(90, 30);
    await pause(1500);
    pty.resize(SIZE.cols, SIZE.rows);
    await pause(1500);
    await pty.enter('change');
    at = await pty.see(/QZQZQZ/, { from: at });
    // The question whether to make this edit.
    await pause(1000);
    at = await pty.press('\r', /WVWVWV/, { from: at });
    await pause(1000);
    await pty.enter('/exit');
    // The question whether this folder is trusted.
    at = await pty.see(/safety|trust/, { from: at });
    await pause(1000);
    await pty.press('\u001b', /Session ended/, { from: at });
    expect(await pty.exited).toBeLessThan(2);
  } finally {
    await standIn.close();
  }
  const words: Readonly<Record<string, readonly string[]>> = {
    first: ['add-dir', 'XKXKXK', 'QZQZQZ', 'WVWVWV'],
    second: ['workspace'],
  };
  for (const [name, marks] of Object.entries(words)) {
    const hex = readFileSync(path.join(scene.project, `${name}.txt`), 'utf8').replaceAll(/\s/g, '');
    const recording = Buffer.from(hex, 'hex');
    // `script` writes a line of its own before and after.
    const raw = recording.subarray(recording.indexOf(0x0a) + 1, recording.lastIndexOf('\nScript done'));
    expect(raw.length).toBeGreaterThan(1000);
    // At each screen and at the end: the bytes so far, both ways.
    const ends = [...marks.map((mark) => raw.indexOf(mark) + mark.length), raw.length];
    for (const end of ends) {
      const filter = createTerminalFilter();
      const [plain, filtered] = await Promise.all([
        render(raw.subarray(0, end)),
        render(filter.write(raw.subarray(0, end))),
      ]);
      expect(filtered.screen).toBe(plain.screen);
      expect(filtered.title).toBe(plain.title);
      expect(filtered.typed).toBe('');
    }
    // Only queries are dropped, and the request for reports of the colour scheme, which is a query too.
    const questions = createTerminalFilter();
    questions.write(Buffer.from(raw.toString('latin1').replaceAll(ASKING, ''), 'latin1'));
    expect(questions.dropped()).toEqual({});
    // The recording is of a program that does ask: unfiltered, the terminal would type.
    expect((await render(raw)).typed).not.toBe('');
    // The same bytes reached the user, except for line ends, which each terminal on the way changes.
    const withoutReturns = (text: string): string => text.replaceAll('\r', '');
    const seen = createTerminalFilter().write(raw).toString('utf8');
    expect(withoutReturns(pty.output)).toContain(withoutReturns(seen).slice(0, 400));
  }
});
