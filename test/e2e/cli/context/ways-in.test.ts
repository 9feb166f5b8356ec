import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { mainJs, type RunResult, Scene } from '../../../support/scene.ts';
import { waitForOutput } from '../../../support/sees.ts';
import { startMessagesApi } from '../../../support/stand-in/messages-api.mjs';

const KEY = 'sk-ant-REAL-CREDENTIAL-9c1f7a';

it('--shell passes arguments and stdin unchanged, prints only the program’s stdout, and returns its exit status', async () => {
  await using scene = new Scene();
  const odd = ['$HOME', '`id`', "a'b", 'a b', '', '--', '-x', '*', 'ünï'];
  const script = 'printf "%s\\n" "$@"; cat; echo err >&2; exit 9';
  const result = await scene.run(['--shell', '--copy-workspace', scene.project, '--', '-c', script, 'sh', ...odd], {
    input: 'line one\nline two',
  });
  expect(result.stdout).toBe(`${odd.map((word) => `${word}\n`).join('')}line one\nline two`);
  expect(result.stderr).toContain('err');
  expect(result.status).toBe(9);
});

it('node inside prints no extra message, and keeps the user’s options', async () => {
  await using scene = new Scene();
  const script =
    'node -e 0 2>&1; node -e "process.emitWarning(\'mine\')" 2>&1 | grep -c Warning; node -p "process.env.NODE_OPTIONS"';
  const result = await scene.run(['exec', '--env', 'NODE_OPTIONS=--no-deprecation', '.', '--', 'sh', '-c', script]);
  expect(result.stdout).toMatch(/^1\n--require=\S+ --no-deprecation\n$/);
});

it('a push from inside is refused, and allowed with --allow-git-push', async () => {
  await using scene = new Scene();
  const push = 'git init -q --bare /tmp/remote && git push -q /tmp/remote HEAD:main && echo pushed';
  const refused = await scene.run(['exec', '.', '--', 'sh', '-c', push]);
  expect([refused.stdout, refused.stderr]).toEqual(['', expect.stringContaining('git-guard refuses a push')]);
  const passed = await scene.run(['exec', '--allow-git-push', '.', '--', 'sh', '-c', push]);
  expect([passed.stdout, passed.stderr]).toEqual(['pushed\n', expect.stringContaining('git push is allowed')]);
});

it('stdin piped to -p reaches the model; --tmpdir keeps the staged files, without the credential', async () => {
  const standIn = await startMessagesApi({ turns: [{ text: 'Read it.' }] });
  await using scene = new Scene({ apiUrl: standIn.url, apiKey: KEY });
  try {
    const kept = path.join(scene.root, 'made', 'when', 'absent');
    const words = ['--tmpdir', kept, scene.project, '-p', 'please read'];
    const result = await scene.run(words, { input: 'words from a pipe\n' });
    expect(result.stdout).toContain('Read it.');
    expect(JSON.stringify(standIn.requests.map(({ body }) => body))).toContain('words from a pipe');
    expect(result.status).toBe(0);
    const [folder = ''] = readdirSync(kept);
    expect(folder).toMatch(/^run-claude-/);
    expect(existsSync(path.join(kept, folder, 'home', '.claude.json'))).toBe(true);
    expect(spawnSync('grep', ['-rlF', KEY, kept]).stdout.toString()).toBe('');
  } finally {
    await standIn.close();
  }
});

it('runs to its end when its output is closed, as with `2>&1 | head`, or cannot be written', async () => {
  await using scene = new Scene();
  const script = 'echo first; read -r line; seq 100000; echo made > made.txt; exit 3';
  const child = scene.spawn(['exec', '--auto-apply', '.', '--', 'sh', '-c', script], '');
  const ended = new Promise((resolve) => child.once('exit', resolve));
  await waitForOutput(child, 'first');
  child.stdout?.destroy();
  child.stderr?.destroy();
  child.stdin?.end('go on\n');
  expect(await ended).toBe(3);
  expect(scene.git('status', '--porcelain')).toBe('?? made.txt\n');
  // On a full disk nothing is written either, and the message says so.
  const command = `'${process.execPath}' '${mainJs}'`;
  const full = `${command} exec --auto-apply . -- sh -c 'seq 100000; echo 2 > two.txt' 2>&1 >/dev/full || echo "ended with $?"`;
  expect(scene.shell(full)).toMatch(
    /ERROR OUTPUT_LOST: not all of the output could be written: ENOSPC.*\nended with 125\n$/,
  );
  expect(scene.git('status', '--porcelain')).toBe('?? made.txt\n?? two.txt\n');
  const gone = scene.shell(`mkdir gone; cd gone; rmdir ../gone; ${command} sessions 2>&1 || echo "ended with $?"`);
  expect(gone).toMatch(/ERROR USAGE: the current directory no longer exists\n.*\nended with 2\n$/);
});

it('two sessions of one project run at once, and the second apply merges against the first', async () => {
  await using scene = new Scene();
  const session = (name: string): Promise<RunResult> =>
    scene.run(['exec', '--auto-apply', scene.project, '--', 'sh', '-c', `echo ${name} > ${name}.txt; sleep 5`]);
  const both = await Promise.all([session('one'), session('two')]);
  expect(both.map((result) => result.status)).toEqual([0, 0]);
  expect(scene.git('status', '--porcelain')).toBe('?? one.txt\n?? two.txt\n');
});
