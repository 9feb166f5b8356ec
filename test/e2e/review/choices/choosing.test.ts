import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { Scene } from '../../../support/scene.ts';

const LINES = 'for i in 1 2 3 4 5 6 7 8; do echo "$1 has a line $i of its own"; done';

/** What the field saw lost: a move into an ignored folder, a file replaced by a link to it, a folder that became a file, both names of renames. */
const SESSION = [
  'mkdir build && mv doc.txt build/ && echo more >> build/doc.txt && echo output > build/out.bin',
  'mv conf.json build/ && ln -s build/conf.json conf.json',
  'rm -r cfg && echo x > cfg',
  'mv d e',
  'mv notes.txt moved.txt && echo edited >> moved.txt',
  "sed -i /vim/d .gitignore && mkdir vim && echo 'set nu' > vim/one && echo 'set ai' > vim/two",
].join('\n');

it('selects changes that belong together as one, in every way of choosing', async () => {
  await using scene = new Scene();
  scene.shell(`lines() { ${LINES}; }
    mkdir cfg d; lines cfg > cfg/a; lines one > d/f1.js; lines two > d/f2.js; lines doc > doc.txt; lines conf > conf.json; lines notes > notes.txt
    printf 'build/\\nvim/\\n' > .gitignore; git add -A; git commit -qm base`);
  const status = (): string[] => scene.git('status', '--porcelain', '-uall').split('\n').filter(Boolean).sort();
  const has = (name: string): boolean => existsSync(path.join(scene.project, name));

  const auto = await scene.run(['exec', '--auto-apply', scene.project, '--', 'sh', '-c', SESSION]);
  expect(auto.stderr).toContain('1 file modified, 2 files deleted, 3 files renamed, 2 files of another kind');
  expect(auto.stderr).toContain('conf.json stays; what it held is only in build/conf.json');
  expect(auto.stderr).toContain('Moved to a withheld name: doc.txt stays; what it held is only in build/doc.txt');
  expect(auto.stderr).toContain('un-ignored by the session: 2 files, withheld; --include-ignored=vim takes them');
  expect(auto.stderr).toContain('withheld: build (');
  expect(auto.status).toBe(121);
  expect(status()).toEqual([
    ' D d/f1.js',
    ' D d/f2.js',
    ' D notes.txt',
    ' M .gitignore',
    '?? e/f1.js',
    '?? e/f2.js',
    '?? moved.txt',
  ]);
  expect([has('doc.txt'), has('cfg/a'), has('vim'), has('build')]).toEqual([true, true, false, false]);

  const shown = (await scene.run(['diff', '--view'])).stdout;
  expect(shown).toContain('renamed d/f1.js → e/f1.js  (applied)\n');
  expect(shown).toMatch(
    /renamed moved\.txt {2}\(applied\)\nsimilarity index 9\d%\nrename from notes\.txt\nrename to moved\.txt\n@@/,
  );
  expect(shown).not.toContain('-one has a line');
  expect((await scene.run(['diff', '--stat'])).stdout).toContain(
    'renamed  +1 -0       moved.txt (from notes.txt)  (applied)\n',
  );
  expect((await scene.run(['undo', '--yes'])).status).toBe(0);
  expect(status()).toEqual([]);

  // In s: the first rename is left with all after it, so neither of its names is touched.
  {
    await using pty = scene.pty(['apply'], { columns: 100, rows: 40 });
    let at = await pty.see(/\[y\/N\/d\/s\/l\/(?:r\/)?\?\]/);
    pty.send('s\r');
    at = await pty.see(/Take \.gitignore\?.*\]:/s, { from: at });
    pty.send('n\r');
    at = await pty.see(/Take suspect cfg with 1 more change\?.*\]:/s, { from: at });
    pty.send('n\r');
    at = await pty.see(/Rename d\/f1\.js to e\/f1\.js\?.*\]:/s, { from: at });
    pty.send('y\r');
    at = await pty.see(/Rename d\/f2\.js to e\/f2\.js\?.*\]:/s, { from: at });
    pty.send('q\r');
    await pty.see(/Apply 1 of \d+ files\?/, { from: at });
    pty.send('y\r');
    await pty.exited;
  }
  expect(status()).toEqual([' D d/f1.js', '?? e/f1.js']);
  expect((await scene.run(['undo', '--yes'])).status).toBe(0);

  const skipped = await scene.run(['apply', '--yes', '--only', 'd/**', '--only', 'moved.txt']);
  expect(skipped.status).toBe(0);
  expect(status()).toEqual([' D notes.txt', '?? moved.txt']);
  expect((await scene.run(['undo', '--yes'])).status).toBe(0);

  // The questions of their own: no to the folder that became a file and to the link, yes to two of the three that are held back.
  {
    await using pty = scene.pty(['apply'], { columns: 100, rows: 40 });
    let at = await pty.see(/\[y\/N\/d\/s\/l\/(?:r\/)?\?\]/);
    pty.send('y\r');
    at = await pty.see(/Apply suspect cfg\? \[y\/N\/\?\]:/, { from: at });
    pty.send('n\r');
    at = await pty.see(/Apply 2 files \(vim\) .*\[y\/N\/d\/l\/\?\]:/s, { from: at });
    pty.send('y\r');
    // Files that ignore rules match are audited when they are taken: each suspect one is asked about.
    for (const name of ['one', 'two']) {
      at = await pty.see(new RegExp(`Apply suspect vim/${name}\\? .*\\[y\\/N\\/\\?\\]:`, 's'), { from: at });
      pty.send('y\r');
    }
    at = await pty.see(/Replace conf\.json\? What it held is only in build\/conf\.json, which is withheld/, {
      from: at,
    });
    pty.send('n\r');
    await pty.see(/Delete doc\.txt\? What it held is only in build\/doc\.txt/, { from: at });
    pty.send('y\r');
    expect(await pty.exited).toBe(121);
  }
  expect(status().filter((line) => line.includes('conf.json'))).toEqual([]);
  expect([has('vim/one'), has('vim/two'), has('doc.txt'), has('build'), has('cfg/a')]).toEqual([
    true,
    true,
    false,
    false,
    true,
  ]);
  expect((await scene.run(['undo', '--yes'])).status).toBe(0);
  expect(status()).toEqual([]);

  const ignored = ['--include-ignored=vim', '--include-ignored=build/'];
  const asked = await scene.run(['apply', '--yes', ...ignored, '--allow-suspect', 'vim/**']);
  expect(asked.status).toBe(121);
  expect([has('vim/one'), has('build/doc.txt'), has('doc.txt'), has('build/out.bin')]).toEqual([
    true,
    true,
    false,
    false,
  ]);
});
