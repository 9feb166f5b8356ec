import { statSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { Scene } from '../../../support/scene.ts';

it('the first git status inside rereads no file: it trusts the copied index', async () => {
  await using scene = new Scene();
  const names = Array.from({ length: 14 }, (_, i) => path.join(scene.project, `src/file${i + 1}.txt`));
  // Older than the index, or git would read them in any case.
  for (const name of names) utimesSync(name, 1e9, 1e9);
  scene.git('update-index', '--refresh');
  // Other bytes where size and time are what the index knows: who reads them says so.
  for (const [i, name] of names.entries()) {
    const { size } = statSync(name);
    scene.write(path.relative(scene.project, name), `${i}`.repeat(size).slice(0, size));
    utimesSync(name, 1e9, 1e9);
  }
  const strict = 'git -c core.checkStat=default -c core.trustctime=true status --porcelain | wc -l';
  const script = `git status --porcelain; echo first; ${strict}`;
  const { stdout } = await scene.run(['exec', scene.project, '--', 'sh', '-c', script]);
  expect(stdout).toBe('first\n14\n');
});

it('git works inside worktrees below the project; their .git files never come back', async () => {
  await using scene = new Scene();
  for (const name of ['side', 'gone']) {
    scene.git('worktree', 'add', '-q', '-b', name, `trees/${name}`);
    // Git writes one anew that is older than a day.
    utimesSync(path.join(scene.project, `.git/worktrees/${name}/gitdir`), 1e9, 1e9);
  }
  const pointers = 'cat trees/*/.git .git/worktrees/*/gitdir; git worktree list';
  const before = scene.shell(pointers);
  const script = `
    cd trees/side && git status --porcelain && echo inside > inside.txt && git add -A && git commit -qm "made inside"
    git log -2 --format=%s; cd ../.. && git worktree prune && git worktree list | wc -l
    git worktree remove trees/gone && git status --porcelain`;
  const result = await scene.run(['exec', '--auto-apply', scene.project, '--', 'bash', '-ec', script]);
  expect(result.stdout, result.stderr).toBe('made inside\nthird\n3\n?? trees/\n');
  // The directory of the removed worktree is held back, since its pointer stays; so is the Makefile.
  expect(result.status, result.stderr).toBe(121);
  expect(result.stderr).not.toMatch(/another repository(?! \(removed\))|trees\/side\/\.git/);
  expect(scene.shell(pointers)).toBe(before);
  expect(scene.shell('ls -A trees/gone; git -C trees/side status --porcelain')).toBe('.git\nMakefile\n?? inside.txt\n');
  expect((await scene.run(['commits', '--import'])).stdout).toContain('made inside');
  expect(scene.git('log', '-1', '--format=%s', '--glob=refs/run-claude/*/side')).toBe('made inside\n');
});

it('programs that only call rename can rename directories inside: git mv, os.rename, fs.rename', async () => {
  await using scene = new Scene();
  for (const name of ['deep/a/b/one.txt', 'deep/a/two.txt', 'docs/page.md', 'onto/page.md', 'full/page.md'])
    scene.write(name, `${name}\n`);
  scene.shell(`
    ln -s two.txt deep/a/link && mkdir deep/closed && echo x > deep/closed/x && chmod 555 deep/closed && mkdir empty
    git add -A && git commit -qm deep && touch -d 2001-02-03 deep/a`);
  const script = `
    git mv src lib && git status --porcelain | grep -c '^R '
    echo new > deep/a/new.txt
    node -e "require('fs').renameSync('deep', 'sunk')"
    python3 -c "import os; os.rename('docs', 'manual'); os.rename('onto', 'empty')"
    for to in full /tmp/away /dev/shm; do
      node -e "try { require('fs').renameSync('manual', process.argv[1]) } catch (e) { console.log(e.code) }" $to
    done
    ls -d /tmp/away manual/page.md 2>&1 | wc -l; stat -c '%a %n' sunk/closed; stat -c %y sunk/a | cut -c1-4; ls -A`;
  const result = await scene.run(['exec', '--auto-apply', scene.project, '--', 'bash', '-c', script]);
  const left = '.git Makefile README.md empty full lib log.txt manual sunk'.split(' ').join('\n');
  // The file that was added moved the time of its directory.
  const year = new Date().getUTCFullYear();
  expect(result.stdout, result.stderr).toBe(`14\nENOTEMPTY\nEXDEV\nEXDEV\n2\n555 sunk/closed\n${year}\n${left}\n`);
  expect(result.status, result.stderr).toBe(0);
  const now = scene.shell('find . -path ./.git -prune -o -printf "%P %l\n" | LC_ALL=C sort');
  for (const name of [
    'sunk/a/b/one.txt ',
    'sunk/a/link two.txt',
    'sunk/a/new.txt ',
    'sunk/closed/x ',
    'empty/page.md ',
  ])
    expect(now.split('\n')).toContain(name);
  expect(now).not.toMatch(/^(src|deep|docs|onto)\b/m);
  expect(scene.shell('cat sunk/a/b/one.txt lib/file3.txt; stat -c %a sunk/closed')).toBe(
    'deep/a/b/one.txt\nfile 3\nsecond line\nthird line\n555\n',
  );
});
