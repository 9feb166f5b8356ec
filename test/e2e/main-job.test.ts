import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Pty } from '../pty.ts';
import { Scene } from '../scene.ts';
import { startMessagesApi } from '../stand-in/messages-api.mjs';

const KEY = 'sk-ant-REAL-CREDENTIAL-9c1f7a';

const bash = (command: string) => ({ name: 'Bash', input: { command, description: 'step' } });

/** What the contract's example shows: 12 modified, 3 created, 1 deleted, a new hook, a changed Makefile. */
const exampleScript = [
  ...Array.from({ length: 11 }, (_, i) => `echo "changed ${i}" >> src/file${i + 1}.txt`),
  'printf "all:\\n\\techo changed\\n" > Makefile',
  'mkdir -p docs && echo one > docs/one.txt && echo two > docs/two.txt && echo three > three.txt',
  'rm src/file14.txt',
  'printf "#!/bin/sh\\ntouch /tmp/owned\\n" > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit',
].join('\n');

const exampleChanges = [
  ' D src/file14.txt',
  ' M Makefile',
  ...Array.from({ length: 11 }, (_, i) => ` M src/file${i + 1}.txt`),
  '?? docs/',
  '?? three.txt',
].sort();

const status = (scene: Scene): string[] =>
  scene
    .git('status', '--porcelain')
    .split('\n')
    .filter((line) => line !== '')
    .sort();

describe('the real Claude Code, driven by a stand-in of the Messages API', () => {
  it('-p: works on a copy, changes are applied, .git is as before and the credential was never inside', async () => {
    const standIn = await startMessagesApi({
      turns: [
        {
          text: 'Working.',
          tools: [
            bash(
              'echo from-claude >> README.md; cat /proc/self/mountinfo > mounts.txt; env > environment.txt; git log --oneline | wc -l > commits.txt; cat .git/config > gitconfig.txt; grep -rs REAL[-]CREDENTIAL /home/agent /run /tmp /proc/1/environ > found.txt; true',
            ),
          ],
        },
        { tools: [{ name: 'Write', input: { file_path: '/workspace/written.txt', content: 'by the Write tool\n' } }] },
        { text: 'All done.' },
      ],
    });
    await using scene = new Scene({ apiUrl: standIn.url, apiKey: KEY });
    try {
      const before = scene.fingerprint('.git');
      const result = await scene.run(['--copy-workspace', '--auto-apply', scene.project, '-p', 'please do it']);
      expect(result.stderr).not.toContain('at file:');
      expect(result.stdout).toContain('All done.');
      expect(result.status).toBe(0);
      expect(status(scene)).toEqual(
        [
          ' M README.md',
          '?? commits.txt',
          '?? environment.txt',
          '?? found.txt',
          '?? gitconfig.txt',
          '?? mounts.txt',
          '?? written.txt',
        ].sort(),
      );
      expect(scene.fingerprint('.git')).toBe(before);
      const read = (name: string): string => readFileSync(path.join(scene.project, name), 'utf8');
      expect(read('commits.txt').trim()).toBe('3');
      expect(read('mounts.txt')).not.toContain(scene.project);
      expect(read('mounts.txt')).not.toContain('docker.sock');
      expect(read('environment.txt')).not.toContain('REAL-CREDENTIAL');
      expect(read('found.txt')).toBe('');
      expect(read('gitconfig.txt')).not.toContain('TOKEN-IN-URL');
      expect(standIn.requests.some(({ headers }) => headers['x-api-key'] === KEY)).toBe(true);
    } finally {
      await standIn.close();
    }
  });
});

/** Waits for the question, and for the half second in which keys are ignored. */
async function answer(pty: Pty, keys: string): Promise<void> {
  await pty.see(/\[y\/N\/d\/s\/l\/\?\]/);
  pty.send(keys);
}

describe('the example of the contract, each answer once', () => {
  let scene: Scene | undefined;
  afterEach(async () => {
    await scene?.[Symbol.asyncDispose]();
    scene = undefined;
  });

  const start = (): { scene: Scene; pty: Pty; hooks: string } => {
    scene = new Scene();
    const pty = scene.pty(['exec', '--yes', scene.project, '--', 'sh', '-c', exampleScript], { columns: 100 });
    return { scene, pty, hooks: path.join(scene.project, '.git', 'hooks', 'pre-commit') };
  };

  it('y: what is clean is applied, the Makefile only after its own yes, the hook never', async () => {
    const { scene, pty, hooks } = start();
    await pty.see(/\[sandbox\] 12 files modified, 3 files created, 1 file deleted/);
    await pty.see(/WARNING: New git hook detected: \.git\/hooks\/pre-commit \(BLOCKED — not synced\)/);
    await pty.see(/WARNING: Suspect file modified: Makefile/);
    await answer(pty, 'y\r');
    await pty.see(/Makefile.*\[y\/N/);
    await new Promise((resolve) => setTimeout(resolve, 700));
    pty.send('y\r');
    expect(await pty.exited).toBe(121);
    expect(status(scene)).toEqual(exampleChanges);
    expect(existsSync(hooks)).toBe(false);
  });
});

it('a y typed while the agent still ran does not answer the question', async () => {
  await using scene = new Scene();
  await using pty = scene.pty([
    'exec',
    '--yes',
    scene.project,
    '--',
    'sh',
    '-c',
    'echo started; sleep 3; echo x >> README.md',
  ]);
  await pty.see(/started/);
  pty.send('y\ry\ry\r');
  await pty.see(/\[y\/N\/d\/s\/l\/\?\]/);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect(status(scene)).toEqual([]);
  pty.send('n\r');
  expect(await pty.exited).toBe(120);
});

it('deleting most of the project is announced and never auto-applied', async () => {
  await using scene = new Scene();
  for (let i = 0; i < 40; i++) scene.write(`many/${i}.txt`, `${i}\n`);
  const before = scene.fingerprint();
  const result = await scene.run(['exec', '--auto-apply', scene.project, '--', 'sh', '-c', 'rm -rf many src log.txt']);
  expect(result.status).toBe(121);
  expect(result.stderr).toMatch(/deletes \d+ of \d+/);
  expect(scene.fingerprint()).toBe(before);
});

it('keeps the host’s edit where both changed a file, leaves the conflict pending, exit 122', async () => {
  await using scene = new Scene();
  const first = await scene.run([
    'exec',
    scene.project,
    '--',
    'sh',
    '-c',
    'echo agent > README.md; echo new > new.txt',
  ]);
  expect(first.status).toBe(120);
  scene.write('README.md', 'the person was here\n');
  const applied = await scene.run(['apply', '--yes']);
  expect(applied.status).toBe(122);
  expect(readFileSync(path.join(scene.project, 'README.md'), 'utf8')).toBe('the person was here\n');
  expect(existsSync(path.join(scene.project, 'new.txt'))).toBe(true);
});

it('passes arguments byte for byte, keeps stdout the agent’s, and gives its exit status', async () => {
  await using scene = new Scene();
  const odd = ['$HOME', '`id`', "a'b", 'a b', '', '--', '-x', '*', 'ünï'];
  const result = await scene.run([
    'exec',
    scene.project,
    '--',
    'sh',
    '-c',
    'printf "%s\\n" "$@"; echo err >&2; exit 9',
    'sh',
    ...odd,
  ]);
  expect(result.stdout).toBe(odd.map((word) => `${word}\n`).join(''));
  expect(result.stderr).toContain('err');
  expect(result.status).toBe(9);
});
