import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { compileProgram } from '../../../support/compile.ts';
import { treeFacts } from '../../../support/tree-facts.ts';

/** Closed directories behave differently for a user who is not root. */
const PERSON = process.getuid?.() === 0 ? { uid: 48_213, gid: 48_213 } : {};

let dir: string;
let program: string;

beforeAll(async () => {
  program = await compileProgram(path.resolve(import.meta.dirname, '../../../support/workspace/refresh-program.ts'));
});
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'run-claude-closed-'));
  if ('uid' in PERSON) execFileSync('chown', [`${PERSON.uid}:${PERSON.gid}`, dir]);
  shell('mkdir project base');
});
afterEach(() => {
  shell('chmod -R u+rwX .');
  rmSync(dir, { recursive: true });
});

function shell(script: string): void {
  execFileSync('bash', ['-ec', script], { cwd: dir, ...PERSON });
}

/** The tree of the base that the user's next session gets. */
function refreshed(): string {
  const env = { PATH: process.env['PATH'] ?? '', SHIM_START: path.join(dir, 'start') };
  execFileSync(process.execPath, [program, dir], { env, ...PERSON });
  const { generation } = JSON.parse(readFileSync(path.join(dir, 'base/users/killed.json'), 'utf8'));
  return path.join(dir, 'base/gen', String(generation), 'tree');
}

it('follows closed directories that are edited, removed and replaced; a generation in use keeps its modes', () => {
  shell(
    'cd project; mkdir -p mod/a/b mod/c/d; for one in a/b/1 a/b/2 c/d/3; do echo $one > mod/$one; done; chmod -R a-w mod',
  );
  const first = refreshed();
  expect(treeFacts(first)).toEqual(treeFacts(path.join(dir, 'project')));

  // Two closed directories, one in the other, that were deleted, and a file in a closed one that was replaced.
  shell('cd project/mod; chmod u+w . a/b c c/d; rm -r c; rm a/b/1; echo new > a/b/1; chmod a-w . a/b');
  const second = refreshed();
  expect(second).not.toBe(first);
  const wanted = treeFacts(path.join(dir, 'project'));
  expect(treeFacts(second)).toEqual(wanted);

  // The first is swept; its files are the second's as well, on which a session stands.
  shell(
    'mkdir -p sessions/other; sed s,sessions/killed,sessions/other, base/users/killed.json > base/users/other.json',
  );
  shell('echo one more > project/more');
  const third = refreshed();
  expect(treeFacts(third)).toEqual(treeFacts(path.join(dir, 'project')));
  expect(statSync(path.dirname(first), { throwIfNoEntry: false })).toBeUndefined();
  expect(treeFacts(second)).toEqual(wanted);

  // A refresh that was killed before it opened anything.
  shell('rm base/users/killed.json');
  const journal = [{ path: 'mod/a/b/2', directory: false }];
  shell(`echo '${JSON.stringify(journal)}' > ${path.dirname(third)}/journal`);
  expect(treeFacts(refreshed())).toEqual(treeFacts(path.join(dir, 'project')));
  expect(treeFacts(second)).toEqual(wanted);
});

it('changes nothing outside where a link of the project became a directory', () => {
  shell('mkdir -p outside/inner; chmod 755 outside outside/inner; ln -s ../outside project/x');
  shell('ln -s "$PWD/outside" project/y');
  refreshed();
  shell('cd project; rm x y; mkdir -p x/inner y/inner; echo 1 > x/f; echo 2 > y/inner/f; rm -r ../sessions');
  expect(treeFacts(refreshed())).toEqual(treeFacts(path.join(dir, 'project')));
  const modes = ['outside', 'outside/inner'].map((one) => statSync(path.join(dir, one)).mode & 0o777);
  expect(modes).toEqual([0o755, 0o755]);
});
