import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { Scene } from '../../support/scene.ts';
import { startMessagesApi } from '../../support/stand-in/messages-api.mjs';

const KEY = 'sk-ant-REAL-CREDENTIAL-9c1f7a';

const bash = (command: string) => ({ name: 'Bash', input: { command, description: 'step' } });

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
