import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileProgram } from '../../../support/compile.ts';
import { Pty } from '../../../support/pty.ts';

const root = mkdtempSync(path.join(tmpdir(), 'run-claude-ask-'));
const store = path.join(root, 'store');
let program = '';
let count = 0;

function freeze(text: string): { digest: string; size: number } {
  const digest = createHash('sha256').update(text).digest('hex');
  mkdirSync(path.join(store, digest.slice(0, 2)), { recursive: true });
  writeFileSync(path.join(store, digest.slice(0, 2), digest), text);
  return { digest, size: Buffer.byteLength(text) };
}

const file = (text: string, mode = 0o644) => ({ kind: 'file', mode, mtimeNs: '0', ...freeze(text) });

const before = Array.from({ length: 40 }, (_, at) => `line ${at + 1}\n`).join('');
const after = before
  .replace('line 3\n', 'line three\n')
  .replace('line 6\n', 'line six\n')
  .replace('line 30\n', 'line thirty\n');

/** 12 modified, 3 created, 1 deleted, a hook and a changed Makefile. */
function exampleScene(): unknown {
  const changes = [
    ...Array.from({ length: 11 }, (_, at) => ({
      path: `src/file${String(at + 1).padStart(2, '0')}.txt`,
      kind: 'modified',
      before: file(before),
      after: file(after),
    })),
    { path: 'Makefile', kind: 'modified', before: file('all:\n'), after: file('all:\n\ttouch x\n') },
    ...[1, 2, 3].map((at) => ({ path: `new${at}.txt`, kind: 'created', after: file(`new \x1b[31m${at}\n`) })),
    { path: 'old.txt', kind: 'deleted', before: file('old\n') },
    { path: '.git/hooks/pre-commit', kind: 'created', inGit: true, after: file('#!/bin/sh\n', 0o755) },
  ];
  const findings = [
    {
      rule: 'hook',
      severity: 'blocked',
      path: '.git/hooks/pre-commit',
      title: 'New git hook detected',
      why: 'git runs it',
    },
    { rule: 'suspect', severity: 'suspect', path: 'Makefile', title: 'Suspect file modified', why: 'make runs it' },
  ];
  return {
    store,
    project: '/home/u/Projects/my-project',
    home: '/home/u',
    findings,
    collected: { changes, problems: [], withheld: [], baseEntries: 100 },
  };
}

function open(size: { columns: number; rows: number }, env: Record<string, string> = {}, extra: object = {}) {
  count += 1;
  const [sceneFile, choiceFile] = [path.join(root, `scene${count}.json`), path.join(root, `choice${count}.json`)];
  writeFileSync(sceneFile, JSON.stringify({ ...(exampleScene() as object), ...extra }));
  const pty = new Pty([process.execPath, program, sceneFile, choiceFile], {
    cwd: root,
    env: { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8', PAGER: 'cat', ...env },
    ...size,
  });
  const choice = () => JSON.parse(readFileSync(choiceFile, 'utf8'));
  return { pty, choice, [Symbol.asyncDispose]: () => pty[Symbol.asyncDispose]() };
}

/** An editor that changes one added line. */
const editor = path.join(root, 'editor.mjs');
writeFileSync(
  editor,
  `import fs from 'node:fs'; const f = process.argv[2];
   fs.writeFileSync(f, fs.readFileSync(f, 'utf8').replace('+line six', '+line edited'));`,
);

/** A pager, and a difftool: what each was given. */
const pager = path.join(root, 'pager.mjs');
writeFileSync(
  pager,
  `let text = ''; process.stdin.on('data', (d) => (text += d)).on('end', () => {
   process.stdout.write(['PAGED', text.split('\\n').length, 'lines in', process.cwd(), 'secure', process.env.LESSSECURE, process.env.LESS, ''].join(' ')); });`,
);
const difftool = path.join(root, 'difftool.mjs');
writeFileSync(
  difftool,
  `import fs from 'node:fs'; const [a, b] = process.argv.slice(2);
   process.stderr.write(['TOOL', ...[a, b].map((f) => f.split('/').at(-1)), ...[a, b].map((f) => fs.readFileSync(f).length), ''].join(' '));`,
);

const QUESTION = /Apply changes to ~\/Projects\/my-project\? \[y\/N\/d\/s\/l\/\?\]:/;

beforeAll(async () => {
  program = await compileProgram(path.resolve(import.meta.dirname, '../../../support/terminal/ask-review-program.ts'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const SIZES = [
  { name: '80x24', columns: 80, rows: 24, env: {} },
  { name: '40x12', columns: 40, rows: 12, env: {} },
  { name: 'without colour', columns: 80, rows: 24, env: { NO_COLOR: '1' } },
  { name: 'a dumb terminal', columns: 80, rows: 24, env: { TERM: 'dumb', NO_COLOR: '1' } },
] as const;

/** The question as it may be wrapped on a narrow screen. */
const ASKED = /\[y\/N\/d\/s\/l\/\?\]:/;

describe.each(SIZES)('the question at the end, $name', ({ columns, rows, env }) => {
  const size = { columns, rows };

  it('prints the summary, accepts y, and then asks about each suspect change by name', async () => {
    await using session = open(size, env);
    const { pty, choice } = session;
    let at = await pty.see(ASKED);
    const summary = plain(pty.output).replace(/\n {10}/g, ' ');
    expect(summary).toContain('[sandbox] 12 files modified, 3 files created, 1 file deleted');
    expect(summary).toContain('[sandbox] WARNING: New git hook detected: .git/hooks/pre-commit (BLOCKED — not synced)');
    expect(summary).toContain('[sandbox] WARNING: Suspect file modified: Makefile');
    if (columns === 80) expect(summary).toMatch(QUESTION);
    pty.send('y\r');
    at = await pty.see(/Apply suspect Makefile\?/, { from: at });
    expect(plain(pty.output)).toMatch(/SUSPECT: Suspect\s+file\s+modified:\s+make\s+runs\s+it/);
    expect(plain(pty.output)).toContain('touch x');
    pty.send('y\r');
    expect(await pty.exited).toBe(0);
    expect(choice()).toMatchObject({ decided: true, discard: false });
    expect(choice().chosen).toHaveLength(16);
    expect(choice().left).toEqual([{ path: '.git/hooks/pre-commit', verdict: 'blocked', why: 'git runs it' }]);
  });

  it('applies nothing after n, Enter, Ctrl-C, Ctrl-D, or when the terminal closes', async () => {
    const answers = ['n\r', '\r', '\x03', '\x04', undefined];
    const sessions = answers.map(() => open(size, env));
    try {
      for (const [index, answer] of answers.entries()) {
        const { pty } = sessions[index] as (typeof sessions)[number];
        await pty.see(ASKED);
        if (answer === undefined) pty.end();
        else pty.send(answer);
      }
      for (const { pty, choice } of sessions) {
        expect(await pty.exited).toBe(0);
        expect(choice()).toMatchObject({ decided: false, discard: false, chosen: [] });
      }
    } finally {
      for (const { pty } of sessions) await pty[Symbol.asyncDispose]();
    }
  });

  it('prints the list, the help and the cleaned differences, and discards only after the whole word', async () => {
    await using session = open(size, env);
    const { pty, choice } = session;
    let at = await pty.see(ASKED);
    pty.send('?\r');
    at = await pty.see(/the whole word/, { from: at });
    at = await pty.see(ASKED, { from: at });
    pty.send('l\r');
    at = await pty.see(/deletions \(1\):/, { from: at });
    at = await pty.see(ASKED, { from: at });
    pty.send('d\r');
    at = await pty.see(/new \\x1b\[31m1/, { from: at });
    at = await pty.see(ASKED, { from: at });
    expect(pty.output).not.toContain('new \x1b[31m');
    pty.send('disc\r');
    at = await pty.see(/is not an answer here/, { from: at });
    at = await pty.see(ASKED, { from: at });
    pty.send('discard\r');
    expect(await pty.exited).toBe(0);
    expect(choice()).toMatchObject({ discard: true, chosen: [] });
  });

  it('selects by file, by part, by pattern, and deletions as a group', async () => {
    await using session = open(size, { ...env, EDITOR: `${process.execPath} ${editor}` });
    const { pty, choice } = session;
    let at = await pty.see(ASKED);
    const answer = async (pattern: RegExp, keys: string): Promise<void> => {
      at = await pty.see(pattern, { from: at });
      pty.send(`${keys}\r`);
    };
    await answer(/$/, 's');
    await answer(/Take src\/file01\.txt\?.*\]:/s, '?');
    // An answered question is drawn once more; the help stands between that and the next one.
    at = await pty.see(/by a pattern/, { from: at });
    await answer(/Take src\/file01\.txt\?.*\]:/s, 'h');
    await answer(/part 1\/2\?.*\]:/s, 's');
    await answer(/part 1\/3\?.*\]:/s, 'n');
    await answer(/part 2\/3\?.*\]:/s, 'e');
    await answer(/part 3\/3\?.*\]:/s, 'y');
    await answer(/Take src\/file02\.txt\?.*\]:/s, 'g');
    at = await pty.see(/Type a pattern behind g/, { from: at });
    await answer(/Take src\/file02\.txt\?.*\]:/s, 'g *3.txt');
    at = await pty.see(/Selected 2 files that match the pattern/, { from: at });
    await answer(/Take src\/file02\.txt\?.*\]:/s, 'n');
    await answer(/Take src\/file04\.txt\?.*\]:/s, 'g src/file04.txt');
    await answer(/Take src\/file05\.txt\?.*\]:/s, 'q');
    // What is left with q is left whole: no deletion is asked for.
    // The file of which parts are taken counts as taken, and a blocked change of `.git` is not a file of the project.
    await answer(/Apply 4 of 16 files\? \(1 in part, 12 left\).*\]:/s, 'y');
    expect(await pty.exited).toBe(0);
    const chosen: { path: string; text?: string }[] = choice().chosen;
    expect(chosen.map(({ path: name }) => name).sort()).toEqual([
      'new3.txt',
      'src/file01.txt',
      'src/file03.txt',
      'src/file04.txt',
    ]);
    const parts = chosen.find(({ path: name }) => name === 'src/file01.txt')?.text;
    expect(parts).toBe(before.replace('line 6\n', 'line edited\n').replace('line 30\n', 'line thirty\n'));
  });

  it('repeats the difference, opens pager and difftool, accepts the rest, and asks about single deletions', async () => {
    const programs = { PAGER: `${process.execPath} ${pager}`, DIFFTOOL: `${process.execPath} ${difftool}` };
    await using session = open(size, { ...env, ...programs });
    const { pty, choice } = session;
    let at = await pty.see(ASKED);
    const answer = async (pattern: RegExp, keys: string): Promise<void> => {
      at = await pty.see(pattern, { from: at });
      pty.send(`${keys}\r`);
    };
    pty.send('d\r');
    at = await pty.see(
      'TERM' in env ? /new \\x1b\[31m3/ : /PAGED [0-9]{3} lines in \/ secure 1 -R -Ps[^$]* q goes on to the question\$/,
      { from: at },
    );
    await answer(ASKED, 's');
    await answer(/Take src\/file01\.txt\?.*\]:/s, 't');
    at = await pty.see(/TOOL before after [0-9]+ [0-9]+/, { from: at });
    await answer(/Take src\/file01\.txt\?.*\]:/s, 'h');
    await answer(/part 1\/2\?.*\]:/s, '?');
    at = await pty.see(/leave it and the rest of the file/, { from: at });
    await answer(/part 1\/2\?.*\]:/s, 'a');
    await answer(/Take src\/file02\.txt\?.*\]:/s, 'h');
    await answer(/part 1\/2\?.*\]:/s, 'd');
    await answer(/Take src\/file03\.txt\?.*\]:/s, 'v');
    at = await pty.see(/six|PAGED/, { from: at });
    await answer(/Take src\/file03\.txt\?.*\]:/s, 'a');
    // "all" does not accept suspect changes.
    at = await pty.see(/make runs it|PAGED/, { from: at });
    await answer(/Take suspect Makefile\?.*\]:/s, 'n');
    await answer(/Delete old\.txt\?.*\]:/s, 'l');
    at = await pty.see(/- old\.txt/, { from: at });
    await answer(/Delete old\.txt\?.*\]:/s, 'e');
    await answer(/\(1\/1\) Delete old\.txt\?.*\]:/s, 'y');
    await answer(/Apply 14 of 16 files\?.*\]:/s, 'y');
    expect(await pty.exited).toBe(0);
    const chosen: { path: string; text?: string }[] = choice().chosen;
    expect(chosen).toHaveLength(14);
    // All parts of a file are the whole change.
    expect(chosen).toContainEqual({ path: 'src/file01.txt' });
    const left = choice().left.map(
      ({ path: name, verdict }: { path: string; verdict: string }) => `${name} ${verdict}`,
    );
    expect(left.sort()).toEqual(['.git/hooks/pre-commit blocked', 'Makefile skipped', 'src/file02.txt skipped']);
  });

  it('can undo a selection, and leaves a suspect change without a yes', async () => {
    await using session = open(size, env);
    const { pty, choice } = session;
    let at = await pty.see(ASKED);
    const answer = async (pattern: RegExp, keys: string): Promise<void> => {
      at = await pty.see(pattern, { from: at });
      pty.send(`${keys}\r`);
    };
    pty.send('s\r');
    await answer(/Take src\/file01\.txt\?.*\]:/s, 'q');
    at = await pty.see(/Nothing is selected, so that nothing is applied\./, { from: at });
    await answer(ASKED, 's');
    await answer(/Take src\/file01\.txt\?.*\]:/s, 'y');
    await answer(/Take src\/file02\.txt\?.*\]:/s, 'q');
    await answer(/Apply 1 of 16 files\?.*\]:/s, 'n');
    await answer(ASKED, 'y');
    await answer(/Apply suspect Makefile\?/, 'n');
    expect(await pty.exited).toBe(0);
    expect(choice().chosen).toHaveLength(15);
    expect(choice().left).toContainEqual(expect.objectContaining({ path: 'Makefile', verdict: 'suspect' }));
  });
});

it('ignores a y that was typed while the agent ran', async () => {
  await using session = open({ columns: 80, rows: 24 });
  const { pty, choice } = session;
  pty.send('y\ry\r');
  const at = await pty.see(ASKED);
  pty.send('\r');
  expect(await pty.exited).toBe(0);
  expect(plain(pty.output.slice(at))).not.toContain('Apply suspect');
  expect(choice()).toMatchObject({ decided: false, chosen: [] });
});

it('asks many questions without a warning of Node about listeners', async () => {
  const scene = exampleScene() as { collected: object };
  const names = Array.from({ length: 14 }, (_, at) => `suspect${at}`);
  const changes = names.map((name) => ({ path: name, kind: 'created', after: file('x\n') }));
  const findings = names.map((name) => ({ rule: 'x', severity: 'suspect', path: name, title: 'Suspect', why: 'runs' }));
  const extra = { collected: { ...scene.collected, changes }, findings };
  await using session = open({ columns: 80, rows: 24 }, {}, extra);
  const { pty, choice } = session;
  let at = await pty.see(ASKED);
  pty.send('y\r');
  for (const name of names) {
    at = await pty.see(new RegExp(`Apply suspect ${name}\\?.*\\[y/N/\\?\\]:`), { from: at });
    pty.send('n\r');
  }
  expect(await pty.exited).toBe(0);
  expect(pty.output).not.toMatch(/MaxListeners|Warning:/);
  expect(choice()).toMatchObject({ decided: true, chosen: [] });
});

it('requires the word delete for a mass deletion', async () => {
  const scene = exampleScene() as { collected: object };
  const changes = Array.from({ length: 60 }, (_, at) => ({ path: `f${at}`, kind: 'deleted', before: file(`${at}`) }));
  await using session = open({ columns: 80, rows: 24 }, {}, { collected: { ...scene.collected, changes } });
  const { pty, choice } = session;
  let at = await pty.see(ASKED);
  expect(plain(pty.output)).toContain('WARNING: the session deletes 60 of 100 entries');
  pty.send('y\r');
  at = await pty.see(/Type 'delete' to continue:/, { from: at });
  pty.send('y\r');
  at = await pty.see(/'y' is not an answer here\./, { from: at });
  at = await pty.see(/Type 'delete' to continue:/, { from: at });
  pty.send('\r');
  expect(await pty.exited).toBe(0);
  expect(choice()).toMatchObject({ decided: false, chosen: [] });
});

it('offers to split only a part that can be split', async () => {
  await using session = open({ columns: 80, rows: 24 });
  const { pty } = session;
  let at = await pty.see(ASKED);
  for (const [pattern, keys] of [
    [/$/, 's'],
    [/Take src\/file01\.txt\?.*\]:/s, 'h'],
    [/part 1\/2\? \[y\/N\/s\/e\/a\/d\/\?\]:/, 's'],
    [/part 1\/3\? \[y\/N\/e\/a\/d\/\?\]:/, 's'],
    [/'s' is not an answer here[\s\S]*part 1\/3\?.*\]:/, '?'],
    [/cannot be split[\s\S]*part 1\/3\?.*\]:/, '\x03'],
    [/Take src\/file01\.txt\?.*\]:/s, '\x03'],
    [ASKED, 'n'],
  ] as const) {
    at = await pty.see(pattern, { from: at });
    pty.send(keys === '\x03' ? keys : `${keys}\r`);
  }
  expect(await pty.exited).toBe(0);
});

function plain(output: string): string {
  return output.replace(/\x1b\[[0-9;?]*[A-Za-z]/g, '').replaceAll('\r', '');
}

it('rehearses after an r, and asks for the file that the rehearsal made suspect', async () => {
  const rehearsed = [
    {
      rule: 'rehearsed-program',
      severity: 'suspect',
      path: 'new1.txt',
      title: 'Starts a program',
      why: 'It does.',
      detail: 'make: starts curl',
    },
  ];
  await using session = open({ columns: 80, rows: 24 }, {}, { rehearsed });
  const { pty, choice } = session;
  let at = await pty.see(/\[y\/N\/d\/s\/l\/r\/\?\]:/);
  expect(plain(pty.output)).not.toContain('make: starts curl');
  pty.send('r\r');
  at = await pty.see(/WARNING: Starts a program: new1\.txt: make: starts curl/, { from: at });
  at = await pty.see(/\[y\/N\/d\/s\/l\/r\/\?\]:/, { from: at });
  pty.send('y\r');
  at = await pty.see(/Apply suspect Makefile\?/, { from: at });
  pty.send('n\r');
  at = await pty.see(/Apply suspect new1\.txt\?/, { from: at });
  pty.send('n\r');
  expect(await pty.exited).toBe(0);
  const { chosen } = choice() as { readonly chosen: readonly { readonly path: string }[] };
  expect(chosen.map(({ path: name }) => name)).not.toContain('new1.txt');
  expect(chosen).toHaveLength(14);
});
