import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { Scene } from '../../../support/scene.ts';

it('--mask and --exclude, with a note on paths in the history; --shallow; ignored output; unreferenced bases', async () => {
  await using scene = new Scene();
  const exec = (options: readonly string[], script: string) =>
    scene.run(['exec', ...options, scene.project, '--', 'sh', '-c', script]);
  scene.write('.gitignore', 'out/\nnode_modules/\n*.log\n');
  scene.write('.env', 'KEY=IN-HISTORY\n');
  scene.write('vendor/lib.txt', 'vendored\n');
  for (let n = 1; n <= 60; n++) scene.git('commit', '-q', '--allow-empty', '-m', `number ${n}`);
  scene.git('add', '-A');
  scene.git('commit', '-q', '-m', 'last');
  scene.write('private.key', 'KEY=NEVER-COMMITTED\n');
  scene.write('out/present.txt', 'of the host\n');

  const closed = await exec(['--mask', '.env', '--exclude', '*.key'], 'wc -c < .env; ls; git show HEAD:.env');
  expect(closed.stdout).toBe('0\nMakefile\nREADME.md\nlog.txt\nout\nsrc\nvendor\nKEY=IN-HISTORY\n');
  expect(closed.stderr).toContain('Excluded or masked: .env, private.key');
  expect(closed.stderr).toMatch(/WARNING: Excluded or masked, and still in git's history, .*: \.env\n/);
  expect(closed.stderr).toContain('No files changed');

  const shallow = await exec(
    ['--shallow'],
    'git log --oneline | wc -l; git status --porcelain; ls vendor; echo new > new.txt',
  );
  // private.key has decoys, and git inside ignores it.
  expect(shallow.stdout).toBe('50\n');
  expect(shallow.stderr).toContain('secrets     1 file masked (private.key)');
  expect(shallow.stderr).toContain('Shallow: the last 50 commits');
  expect(shallow.stderr).toContain('Excluded or masked: vendor');
  expect((await scene.run(['diff', '--name-only'])).stdout).toBe('new.txt\n');
  const back = await exec(['--shallow', '--include', 'vendor/'], 'cat vendor/lib.txt; git status --porcelain vendor');
  expect(back.stdout).toBe('vendored\n');

  const make =
    'mkdir -p node_modules/a out; echo x > node_modules/a/i.js; echo y > out/o.txt; echo z >> out/present.txt; echo w > b.log; echo v > seen.txt';
  const [log, modules, out] = ['b.log (1 ignored', 'node_modules (3 ignored', 'out (1 ignored'] as const;
  // One that the host has is named always; the last is applied.
  const ignored: ReadonlyArray<readonly [readonly string[], string, readonly string[]]> = [
    [[], 'out/present.txt\nseen.txt\n', [log, modules, out]],
    [['--include-ignored=out/'], 'out/o.txt\nout/present.txt\nseen.txt\n', [log, modules]],
    [
      ['--include-ignored'],
      'b.log\nnode_modules\nnode_modules/a\nnode_modules/a/i.js\nout/o.txt\nout/present.txt\nseen.txt\n',
      [],
    ],
  ];
  for (const [options, names, withheld] of ignored) {
    const { stderr } = await exec(options, make);
    const messages = stderr.match(/(?<=withheld: )\S+ \(.*/g) ?? [];
    expect(messages, options.join()).toEqual(withheld.map((one) => expect.stringContaining(one)));
    expect((await scene.run(['diff', '--name-only'])).stdout, options.join()).toBe(names);
  }
  const some = await scene.run(['apply', '--yes', '--only', 'out/', '--only', '*.txt']);
  expect([some.status, some.stderr]).toEqual([0, expect.stringContaining('Applied 3 of')]);
  expect(readFileSync(path.join(scene.project, 'out/present.txt'), 'utf8')).toBe('of the host\nz\n');
  expect(existsSync(path.join(scene.project, 'node_modules'))).toBe(false);

  const doctor = await scene.run(['doctor']);
  expect(doctor.stdout).toMatch(/^ok +Copy strategy +layers: overlay volumes work here$/m);

  // Thirty days later.
  const bases = path.join(scene.places().cacheDir, 'bases');
  const age = (): void => {
    const then = new Date(Date.now() - 31 * 86_400_000);
    for (const base of readdirSync(bases)) {
      for (const one of ['users', 'gen', '.']) utimesSync(path.join(bases, base, one), then, then);
    }
  };
  const sessions: Array<{ id: string; stage: string }> = JSON.parse((await scene.run(['sessions', '--json'])).stdout);
  const pending = sessions.filter(({ stage }) => stage === 'pending').map(({ id }) => id);
  const [whole, cut] = readdirSync(bases).sort();
  expect(cut).toBe(`${whole}-shallow`);
  for (const id of pending.slice(0, -1)) expect((await scene.run(['discard', '--yes', id])).status, id).toBe(0);
  const output = `base ${bases}/${whole} (unused for 31 days)\n`;
  await scene.run(['gc', '--yes']);
  expect(readdirSync(bases)).toEqual([whole, cut]);
  age();
  // Images are nobody's in particular: what other builds left on this machine is named too.
  const messages = async (option: string): Promise<string> =>
    (await scene.run(['gc', option])).stdout.replaceAll(/^.* image .*\n/gm, '');
  expect(await messages('--dry-run')).toBe(`would remove ${output}`);
  expect(readdirSync(bases)).toEqual([whole, cut]);
  expect(await messages('--yes')).toBe(`removed ${output}`);
  // A pending session references the other one.
  expect(readdirSync(bases)).toEqual([cut]);
  expect((await scene.run(['apply', '--yes', ...pending.slice(-1)])).status).toBe(0);
  await scene.run(['gc', '--yes']);
  age();
  await scene.run(['gc', '--yes']);
  expect(readdirSync(bases)).toEqual([]);
  expect((await exec([], 'cat new.txt')).stdout).toBe('new\n');
});

/** Prints at the end how often the process listed a directory. Threads are not counted: a small project starts none. */
const COUNT_LISTINGS = `
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
const { readdirSync } = fs;
// run-claude leaves out variables that lead into the project.
const watched = process.env.WATCHED_DIRECTORY;
let count = 0;
fs.readdirSync = (...args) => {
  if (args[0] === watched) count += 1;
  return readdirSync(...args);
};
syncBuiltinESMExports();
process.on('exit', () => fs.writeSync(2, \`listed \${count} times\\n\`));
`;

it('a start uses the scan of the project that it began with, and does not scan it again', async () => {
  await using scene = new Scene();
  const preload = path.join(scene.root, 'count-listings.mjs');
  writeFileSync(preload, COUNT_LISTINGS);
  const env = { NODE_OPTIONS: `--import=${preload}`, WATCHED_DIRECTORY: path.join(scene.project, 'src') };
  const counts: unknown[] = [];
  // A scan that ended more than a second before the copy is refreshed is not used: a busy machine has further tries.
  while (counts.length < 5 && !counts.includes('1')) {
    const { stderr } = await scene.run(['exec', '--copy-workspace', '--yes', '--', 'true'], { env });
    counts.push(/^listed (\d+) times$/m.exec(stderr)?.[1]);
  }
  expect(counts).toContain('1');
});
