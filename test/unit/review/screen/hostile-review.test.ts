import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditChanges } from '../../../../src/audit/audit.ts';
import type { RelPath } from '../../../../src/core/text/path.ts';
import type { Change, Entry } from '../../../../src/core/types/entry.ts';
import { compileProgram } from '../../../support/compile.ts';
import { Pty } from '../../../support/pty.ts';

/** What a terminal does besides showing text: titles, clipboard, modes, character sets, questions that it answers by typing. */
const ESCAPES: readonly string[] = [
  '\u001b]0;owned\u0007',
  '\u001b]2;owned\u001b\\',
  '\u001b]52;c;b3duZWQ=\u0007',
  '\u001b]8;;http://evil.example\u0007link\u001b]8;;\u0007',
  '\u001b]1337;File=name=eA==:eA==\u0007',
  '\u001b]4;1;rgb:00/00/00\u0007',
  '\u001b[?1049h',
  '\u001b[?25l',
  '\u001b[?1000h\u001b[?1006h',
  '\u001b[?2004h',
  '\u001b[?7l',
  '\u001b[4h',
  '\u001b[3;5r',
  '\u001b[6n',
  '\u001b[c',
  '\u001b[>q',
  '\u001b[21t',
  '\u001bP$qm\u001b\\',
  '\u001b_apc\u001b\\',
  '\u001b^pm\u001b\\',
  '\u001b(0',
  '\u000e',
  '\u0005',
  '\u001bc',
  '\u001b[!p',
  '\u001b#8',
  '\u001b=',
  '\u001b[8m',
  '\u001b[2J\u001b[H',
  '\u001b[1A\u001b[2K',
  '\u009b6n',
  '\u009d0;owned\u009c',
  '\u0090$qm\u009c',
  '\u0007',
  '\u0008\u0008\u0008',
  '\rOVERWRITTEN',
  '\u202eevil',
  '\u2066evil',
  '\udc9b6n',
  '\udc9d0;owned\udc9c',
];

const root = mkdtempSync(path.join(tmpdir(), 'run-claude-hostile-'));
const store = path.join(root, 'store');
const contents = new Map<string, Buffer>();
let program = '';
let scenes = 0;

function freeze(text: string): Entry {
  // Lone surrogates stand for bytes that are no UTF-8, as in names.
  const bytes = Buffer.concat(
    [...text].map((char) =>
      /[\udc80-\udcff]/.test(char) ? Buffer.from([char.charCodeAt(0) & 0xff]) : Buffer.from(char),
    ),
  );
  const digest = createHash('sha256').update(bytes).digest('hex');
  mkdirSync(path.join(store, digest.slice(0, 2)), { recursive: true });
  writeFileSync(path.join(store, digest.slice(0, 2), digest), bytes);
  contents.set(digest, bytes);
  return { kind: 'file', mode: 0o644, mtimeNs: '0', size: bytes.length, digest };
}

/** Every escape as a name, as content, as what a finding quotes, as a link's target and as a problem. */
function scene(): { changes: Change[]; problems: { path: string; why: string }[] } {
  const changes: Change[] = [];
  const put = (name: string, before: Entry | undefined, after: Entry | undefined): void =>
    void changes.push({
      path: name as RelPath,
      kind: before === undefined ? 'created' : after === undefined ? 'deleted' : 'modified',
      ...(before === undefined ? {} : { before }),
      ...(after === undefined ? {} : { after }),
    });
  for (const [at, raw] of ESCAPES.entries()) {
    put(`names/${at}${raw}.txt`, undefined, freeze('x\n'));
    put(`texts/${at}.txt`, freeze(`a\n${raw}gone\nb\n`), freeze(`a\n${raw}new\nb\n`));
    put(`links/${at}`, undefined, { kind: 'symlink', mode: 0o777, mtimeNs: '0', size: 1, target: `x${raw}` });
    // Of another content: no rename.
    put(`deleted/${at}${raw}`, freeze(`deleted ${at}\n`), undefined);
  }
  put('Makefile', freeze('all:\n'), freeze(`all:\n${ESCAPES.map((raw) => `\techo ${raw} | sh`).join('\n')}\n`));
  put(
    'package.json',
    freeze('{}'),
    freeze(JSON.stringify({ scripts: Object.fromEntries(ESCAPES.map((one) => [one, one])) })),
  );
  return { changes, problems: ESCAPES.map((raw) => ({ path: `problems/${raw}`, why: `no${raw}` })) };
}

/** A terminal's state as the standard and xterm tell it: what is not text, a colour or a move on the screen. */
function stateAfter(output: string): { readonly modes: string[]; readonly colour: string; readonly outside: string[] } {
  const modes = new Map<string, boolean>();
  const outside: string[] = [];
  let colour = '';
  // Strings (OSC, DCS, APC, PM, SOS) first, then CSI, other escapes, single controls of C0 and C1.
  const tokens =
    /(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?|(?:\u001b\[|\u009b)([0-?]*)[ -/]*([@-~])|\u001b[ -/]*[0-~]?|[\u0000-\u0007\u000b-\u000c\u000e-\u001f\u007f-\u009f]/g;
  for (const [token, parameters = '', final] of output.matchAll(tokens)) {
    if (final === 'm' && token.startsWith('\u001b['))
      colour = /^(0|39|49|22|23|24|27|29|)?$/.test(parameters) ? '' : parameters;
    else if ((final === 'h' || final === 'l') && token.startsWith('\u001b[?')) modes.set(parameters, final === 'h');
    else if (final !== undefined && /[A-HJKST]/.test(final) && token.startsWith('\u001b[')) continue;
    else outside.push(JSON.stringify(token));
  }
  // The cursor is shown and lines wrap in a terminal that nobody touched; every other mode is off.
  const on = new Set(['?25', '?7']);
  return {
    modes: [...modes].filter(([mode, set]) => set !== on.has(mode)).map(([mode, set]) => `${mode} ${set}`),
    colour,
    outside,
  };
}

beforeAll(async () => {
  program = await compileProgram(path.resolve(import.meta.dirname, '../../../support/terminal/ask-review-program.ts'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Prints what the kernel knows of the terminal, runs a command in it, and prints that again. */
function inTerminal(command: string, size: { columns: number; rows: number }): Pty {
  return new Pty(['sh', '-c', `echo "BEFORE $(stty -g)"; ${command}; echo "AFTER $(stty -g)"`], {
    cwd: root,
    env: { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8', PAGER: 'cat' },
    ...size,
  });
}
const settings = (output: string): string[] =>
  [...output.matchAll(/(?:BEFORE|AFTER) ([0-9a-f:]+)/g)].map((match) => match[1] ?? '');

describe("the reviewer's terminal", () => {
  it('control: would be changed by these names and texts without cleaning', async () => {
    const file = path.join(root, 'raw');
    writeFileSync(file, ESCAPES.join('text\n').replace(/[\ud800-\udfff]/g, ''));
    await using pty = inTerminal(`cat ${file}`, { columns: 80, rows: 24 });
    await pty.see(/AFTER/);
    const { modes, outside } = stateAfter(pty.output);
    expect(modes).toEqual(expect.arrayContaining(['?1049 true', '?25 false', '?1000 true', '?2004 true', '?7 false']));
    expect(outside.length).toBeGreaterThan(20);
    expect(outside.join('')).toContain('owned');
  });

  it.each([
    { columns: 80, rows: 24 },
    { columns: 40, rows: 12 },
  ])('is unchanged after the list, every diff and the answers ($columns x $rows)', async (size) => {
    const { changes, problems } = scene();
    const findings = auditChanges({ changes, content: (digest) => contents.get(digest) });
    expect(findings.length).toBeGreaterThan(ESCAPES.length);
    scenes += 1;
    const [sceneFile, choiceFile] = [path.join(root, `scene${scenes}`), path.join(root, `choice${scenes}`)];
    const collected = { changes, problems, withheld: [], baseEntries: 1000 };
    writeFileSync(sceneFile, JSON.stringify({ store, project: '/home/u/p', home: '/home/u', findings, collected }));
    await using pty = inTerminal(`${process.execPath} ${program} ${sceneFile} ${choiceFile}`, size);
    const asked = /\[y\/N\/d\/s\/l\/\?\]:/;
    let at = await pty.see(asked);
    // An answered question is drawn once more: what the answer prints stands between that and the next one.
    for (const [key, sign] of [
      ['l', /deletions \(\d+\):/],
      ['d', /modified package\.json/],
      ['?', /the whole word/],
    ] as const) {
      pty.send(`${key}\r`);
      at = await pty.see(sign, { from: at });
      at = await pty.see(asked, { from: at });
    }
    pty.send('y\r');
    // The first suspect one is asked for by its name, with its diff; no more is wanted.
    // Its last line: before that one, no key is an answer.
    at = await pty.see(/Apply suspect [\s\S]*?\[y\/N\/\?\]:/, { from: at });
    pty.send('\u0003');
    await pty.see(/AFTER/, { from: at });
    expect(stateAfter(pty.output)).toEqual({ modes: [], colour: '', outside: [] });
    // A lone byte of 0x80 to 0x9f would be read as this, and as a control by a terminal that is not in UTF-8.
    expect(pty.output).not.toContain('\ufffd');
    const [first, last] = settings(pty.output);
    expect(first).toMatch(/:/);
    expect(last).toBe(first);
    for (const sign of ['OVERWRITTEN', 'owned', 'names/', 'texts/', 'problems/']) expect(pty.output).toContain(sign);
  });
});
