import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileProgram } from '../../compile.ts';
import { Pty } from '../../pty.ts';

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

/** 12 modified, 3 created, 1 deleted, a hook and a changed Makefile, as in the contract's example. */
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
  return { pty, choiceFile, choice: () => JSON.parse(readFileSync(choiceFile, 'utf8')) };
}

const QUESTION = /Apply changes to ~\/Projects\/my-project\? \[y\/N\/d\/s\/l\/\?\]:/;

beforeAll(() => {
  program = compileProgram(path.resolve(import.meta.dirname, '../../terminal/ask-review-program.ts'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe('the question at the end', () => {
  it('prints the summary of the contract and takes y, then each suspect by name', async () => {
    await using session = asyncOpen({ columns: 80, rows: 24 });
    const { pty, choice } = session;
    let at = await pty.see(QUESTION);
    expect(plain(pty.output)).toContain('[sandbox] 12 files modified, 3 files created, 1 file deleted');
    expect(plain(pty.output)).toContain(
      '[sandbox] WARNING: New git hook detected: .git/hooks/pre-commit (BLOCKED — not synced)',
    );
    expect(plain(pty.output)).toContain('[sandbox] WARNING: Suspect file modified: Makefile');
    pty.send('y\r');
    at = await pty.see(/Apply suspect Makefile\? \[y\/N\]:/, { from: at });
    expect(plain(pty.output)).toContain('SUSPECT: Suspect file modified: make runs it');
    expect(plain(pty.output)).toContain('+\ttouch x'.replace('\t', '       '));
    pty.send('y\r');
    expect(await pty.exited).toBe(0);
    expect(choice()).toMatchObject({ decided: true, discard: false });
    expect(choice().chosen).toHaveLength(16);
    expect(choice().left).toEqual([{ path: '.git/hooks/pre-commit', verdict: 'blocked', why: 'git runs it' }]);
  });
});

function asyncOpen(size: { columns: number; rows: number }, env: Record<string, string> = {}, extra: object = {}) {
  const session = open(size, env, extra);
  return { ...session, existsSync, [Symbol.asyncDispose]: () => session.pty[Symbol.asyncDispose]() };
}

function plain(output: string): string {
  return output.replace(/\x1b\[[0-9;?]*[A-Za-z]/g, '').replaceAll('\r', '');
}
