import { cpSync, existsSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { Scene } from '../../../../support/scene.ts';

const MAKE = [
  'echo inside > made.txt',
  'git add -A',
  `git -c user.name="Agent$(printf '\\302\\2336n')" -c user.email=agent@example.org commit -qm "made inside"`,
  'echo more >> README.md',
].join(' && ');

it('a finished session can be used further: note, commits, explore, resume, apply by parts, undo', async () => {
  await using scene = new Scene();
  const before = scene.fingerprint();
  const head = scene.git('rev-parse', 'main').trim();
  const first = await scene.run(['exec', scene.project, '--', 'sh', '-c', MAKE]);
  expect(first.stderr).toContain('Commits were made inside');
  expect(first.status).toBe(120);

  await scene.run(['note', 'for \u001b[31mMonday\u009b6n\u202e']);
  // Controls of one character and turned text are nothing that JSON would escape by itself.
  const asJson = async (...words: string[]) => {
    const { stdout } = await scene.run([...words, '--json']);
    expect(stdout, words.join(' ')).toMatch(/^[\n -~]+$/);
    return JSON.parse(stdout);
  };
  const [session] = await asJson('sessions');
  expect(first.stderr).toContain(`run-claude diff ${session.id}, run-claude apply ${session.id}`);
  expect(session).toMatchObject({ stage: 'pending', note: 'for \u001b[31mMonday\u009b6n\u202e' });
  expect(await asJson('status')).toMatchObject({ note: session.note });
  expect((await scene.run(['sessions'])).stdout).toContain('for \\x1b[31mMonday');

  const counted = 'modified +1 -0       README.md\ncreated  +1 -0       made.txt\n';
  expect((await scene.run(['diff', '--stat'], { cwd: path.join(scene.project, 'src') })).stdout).toBe(counted);
  expect((await scene.run(['undo', '--yes'])).stderr).toContain('no apply that could be undone');

  expect((await scene.run(['commits'])).stderr).not.toContain('WARNING');
  expect(await asJson('commits')).toMatchObject({
    branches: [{ branch: 'main' }],
    commits: [{ parents: [head], author: 'Agent\u009b6n <agent@example.org>', subject: 'made inside' }],
  });

  const explored = await scene.run(['explore'], {
    input: 'cat made.txt; git log -1 --format=%s; echo gone > away.txt; cat away.txt; ls /sys/class/net\n',
  });
  expect(explored.stdout).toBe('inside\nmade inside\ngone\nlo\n');
  // What a shell removes of the base leaves something in the kernel's work directory.
  for (const time of ['first', 'second']) {
    const removed = await scene.run(['explore'], { input: 'cat README.md && rm README.md && ls README.md\n' });
    expect(removed.stdout, time).toBe('# sample\nmore\n');
    expect(removed.stderr, time).not.toMatch(/ENOTEMPTY|WARNING/);
    expect(existsSync(path.join(scene.places().stateDir, 'sessions', session.id, 'explore')), time).toBe(false);
  }

  const resumed = await scene.run(['resume', '--', 'sh', '-c', 'cat made.txt; ls away.txt; echo two > again.txt']);
  expect(resumed.stdout).toBe('inside\n');
  expect(resumed.status).toBe(120);
  expect(scene.fingerprint()).toBe(before);

  const dry = await scene.run(['apply', '--dry-run', '--yes']);
  expect(dry.stdout.match(/^would apply .*/gm)?.map((line) => line.split(/ {2,}/)[1])).toEqual([
    'README.md',
    'again.txt',
    'made.txt',
  ]);
  expect(scene.fingerprint()).toBe(before);
  expect((await scene.run(['apply', '--yes', '--only', '*.txt', '--skip', 'again*'])).status).toBe(0);
  expect(scene.git('status', '--porcelain')).toBe('?? made.txt\n');
  const rest = await scene.run(['apply', '--yes']);
  expect([rest.status, rest.stderr]).toEqual([
    0,
    expect.stringMatching(/1 of 3 files is applied \([^)]+\), 2 are left\.\n.*Applied 2 of 2 files\./),
  ]);
  expect(scene.git('status', '--porcelain')).toBe(' M README.md\n?? again.txt\n?? made.txt\n');

  const imported = await scene.run(['commits', '--import']);
  expect(imported.status).toBe(0);
  const ref = `refs/run-claude/${session.id}/main`;
  expect(imported.stderr).toContain(`git reset ${ref}`);
  expect(scene.git('log', '-1', '--format=%s', ref)).toBe('made inside\n');
  expect(scene.git('rev-parse', 'main').trim()).toBe(head);
  // What it says to type works where the files were applied; git would not merge over them.
  expect(scene.shell(`git merge --ff-only ${ref} 2>&1 || true`)).toContain('would be overwritten by merge');
  const reset = /git reset refs\S+/.exec(imported.stderr)?.[0] ?? '';
  expect(scene.shell(`${reset} >/dev/null && git status --porcelain; git log -1 --format=%s`)).toBe(
    ' M README.md\n?? again.txt\nmade inside\n',
  );
  scene.git('reset', '-q', head);

  expect((await scene.run(['undo', '--yes'])).status).toBe(0);
  expect(scene.git('status', '--porcelain')).toBe('?? made.txt\n');
  renameSync(scene.project, `${scene.project}.away`);
  cpSync(`${scene.project}.away`, scene.project, { recursive: true });
  const replaced = await scene.run(['apply', '--yes', session.id]);
  expect(replaced.stderr).toContain('is not the directory that the session began with');
  rmSync(scene.project, { recursive: true });
  renameSync(`${scene.project}.away`, scene.project);
  await scene.run(['discard', '--yes']);
  for (const words of [['resume'], ['explore'], ['commits'], ['apply', '--yes']]) {
    expect((await scene.run(words)).status, words.join(' ')).not.toBe(0);
  }
  expect(existsSync(path.join(scene.project, 'made.txt'))).toBe(true);
});
