import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { sessionObjects } from '../../../support/engine.ts';
import { firstRows } from '../../../support/rows.ts';
import { Scene } from '../../../support/scene.ts';
import { waitForOutput } from '../../../support/sees.ts';

// --also DIR[:ro]: folders besides the project, each with changes, review and undo of its own.

/** A repository next to the scene's project. */
function folder(scene: Scene, name: string): string {
  const dir = path.join(scene.root, name);
  mkdirSync(dir);
  writeFileSync(path.join(dir, 'own.txt'), `of ${name}\n`);
  const git = (...args: string[]) => execFileSync('git', args, { cwd: dir, env: scene.env });
  git('init', '-q');
  git('add', '-A');
  git('-c', 'user.name=P', '-c', 'user.email=p@example.org', 'commit', '-qm', 'first');
  return dir;
}

interface Listed {
  readonly id: string;
  readonly project: string;
  readonly stage: string;
}

const sessionsOf = async (scene: Scene): Promise<readonly Listed[]> =>
  JSON.parse((await scene.run(['sessions', '--json'])).stdout);

const WRITES = [
  'cat /also/lib/own.txt /also/docs/own.txt',
  'echo made >/also/lib/made.txt',
  'echo "echo stolen" >/also/lib/.git/hooks/pre-commit',
  'echo here >here.txt',
  'touch /also/docs/no 2>/dev/null || echo refused',
  'touch /also/no 2>/dev/null || echo refused',
].join('; ');

describe.each(firstRows(1, ['layers', 'copy', 'volume']))('folders besides the project, by %s', (strategy) => {
  it('come back each with its own review, outcome and undo; a read-only one is only read', async () => {
    await using scene = new Scene();
    const [lib, docs] = [folder(scene, 'lib'), folder(scene, 'docs')];
    const also = ['--also', lib, '--also', `${docs}:ro`];
    const how = ['exec', '--yes', '--auto-apply', `--copy-workspace=${strategy}`, '--network', 'none'];
    const done = await scene.run([...how, ...also, scene.project, '--', 'sh', '-c', WRITES]);
    expect([done.status, done.stdout]).toEqual([121, 'of lib\nof docs\nrefused\nrefused\n']);
    expect(done.stderr).toContain(`/also/docs: a read-only copy of ${docs}`);
    // The hook is held back in the section of its own folder.
    const [, ofLib = ''] = done.stderr.split(`The folder ${lib}:`);
    expect(ofLib).toContain('.git/hooks/pre-commit (BLOCKED');
    expect(readFileSync(path.join(scene.project, 'here.txt'), 'utf8')).toBe('here\n');
    expect(readFileSync(path.join(lib, 'made.txt'), 'utf8')).toBe('made\n');
    expect(existsSync(path.join(lib, '.git/hooks/pre-commit'))).toBe(false);
    expect(readdirSync(docs).sort()).toEqual(['.git', 'own.txt']);

    const listed = await sessionsOf(scene);
    expect(listed.map((one) => one.project).sort()).toEqual([lib, scene.project].sort());
    // By volume, the engine holds the layer of what was held back.
    const kept = (name: string): boolean => strategy === 'volume' && name.endsWith('-layer');
    for (const { id } of listed) expect(sessionObjects(id).filter((name) => !kept(name))).toEqual([]);
    const undone = await scene.run(['undo', '--yes'], { cwd: lib });
    expect([undone.status, existsSync(path.join(lib, 'made.txt'))]).toEqual([0, false]);
    expect(existsSync(path.join(scene.project, 'here.txt'))).toBe(true);
  });
});

it('a link in a folder leads to nothing of this machine', async () => {
  await using scene = new Scene();
  const lib = folder(scene, 'lib');
  writeFileSync(path.join(scene.root, 'secret.txt'), 'not for the agent\n');
  symlinkSync(path.join(scene.root, 'secret.txt'), path.join(lib, 'link.txt'));
  const script = 'cat /also/lib/link.txt 2>/dev/null || echo nothing; ls /also';
  const done = await scene.run(['exec', '--yes', '--also', lib, scene.project, '--', 'sh', '-c', script]);
  expect(done.stdout).toBe('nothing\nlib\n');
});

it('a session that is killed: a command on the folder collects both, after the agent has ended', async () => {
  await using scene = new Scene();
  const lib = folder(scene, 'lib');
  const script = 'echo work >/also/lib/work.txt; echo own >own.txt; echo ready; while :; do sleep 0.2; done';
  const child = scene.spawn(['exec', '--yes', '--also', lib, scene.project, '--', 'sh', '-c', script]);
  const gone = new Promise((resolve) => child.once('close', resolve));
  await waitForOutput(child, 'ready');
  child.kill('SIGKILL');
  await gone;
  const [before] = [await sessionsOf(scene)];
  const ofFolder = before.find((one) => one.project === lib) as Listed;
  const ofProject = before.find((one) => one.project === scene.project) as Listed;
  const shown = await scene.run(['diff', '--name-only', ofFolder.id]);
  expect([shown.status, shown.stdout]).toEqual([0, expect.stringContaining('work.txt')]);
  expect(sessionObjects(ofProject.id)).toEqual([]);
  const own = await scene.run(['diff', '--name-only', ofProject.id]);
  expect(own.stdout).toContain('own.txt');
  expect((await sessionsOf(scene)).map((one) => one.stage)).toEqual(['pending', 'pending']);
});

it('a resumed session goes on in its folders, and a folder’s own session is not resumed', async () => {
  await using scene = new Scene();
  const lib = folder(scene, 'lib');
  await scene.run(['exec', '--yes', '--also', lib, scene.project, '--', 'sh', '-c', 'echo 1 >/also/lib/n; echo 1 >n']);
  const listed = await sessionsOf(scene);
  const ofFolder = listed.find((one) => one.project === lib) as Listed;
  const ofProject = listed.find((one) => one.project === scene.project) as Listed;
  const refused = await scene.run(['resume', ofFolder.id]);
  expect([refused.status, refused.stderr]).toEqual([2, expect.stringContaining(`run-claude resume ${ofProject.id}`)]);
  const words = ['sh', '-c', 'cat /also/lib/n; echo 2 >>/also/lib/n'];
  const resumed = await scene.run(['resume', ofProject.id, '--', ...words]);
  expect([resumed.stdout, resumed.status]).toEqual(['1\n', 120]);
  expect((await scene.run(['apply', '--yes', ofFolder.id])).status).toBe(0);
  expect(readFileSync(path.join(lib, 'n'), 'utf8')).toBe('1\n2\n');
  expect(existsSync(path.join(scene.project, 'n'))).toBe(false);
});

it('what was discarded in a folder does not come back, and a read-only folder leaves nothing when it is killed', async () => {
  await using scene = new Scene();
  const [lib, docs] = [folder(scene, 'lib'), folder(scene, 'docs')];
  const script = 'ls /also/lib; echo 1 >/also/lib/n; echo 1 >n';
  const how = ['exec', '--yes', '--copy-workspace=volume', '--also', lib];
  await scene.run([...how, scene.project, '--', 'sh', '-c', script]);
  const listed = await sessionsOf(scene);
  const ofFolder = listed.find((one) => one.project === lib) as Listed;
  const ofProject = listed.find((one) => one.project === scene.project) as Listed;
  expect((await scene.run(['discard', '--yes', ofFolder.id])).status).toBe(0);
  const resumed = await scene.run(['resume', ofProject.id, '--', 'ls', '/also/lib']);
  expect(resumed.stdout).toBe('own.txt\n');

  const waits = ['exec', '--yes', '--also', `${docs}:ro`, scene.project, '--', 'sh', '-c', 'echo ready; sleep 60'];
  const child = scene.spawn(waits);
  const gone = new Promise((resolve) => child.once('close', resolve));
  await waitForOutput(child, 'ready');
  child.kill('SIGKILL');
  await gone;
  await scene.run(['exec', '--yes', docs, '--', 'true']);
  expect((await sessionsOf(scene)).filter((one) => one.stage === 'running')).toEqual([]);
  expect((await sessionsOf(scene)).filter((one) => one.project === docs)).toHaveLength(1);
});

it('a kept session: commands work in its folder, and its end is about the folder too', async () => {
  await using scene = new Scene();
  const lib = folder(scene, 'lib');
  expect((await scene.run(['up', '--yes', '--also', lib, scene.project])).status).toBe(0);
  const id = (await sessionsOf(scene)).find((one) => one.project === lib)?.id ?? '';
  // In the folder as in the project: the session of the agent is meant.
  const inside = await scene.run(['exec', '--session', id, '--', 'sh', '-c', 'echo 1 >/also/lib/n; pwd'], { cwd: lib });
  expect([inside.stdout, inside.stderr]).toEqual(['/workspace\n', '']);
  const ended = await scene.run(['down', '--auto-apply'], { cwd: lib });
  expect([ended.status, readFileSync(path.join(lib, 'n'), 'utf8')]).toEqual([0, '1\n']);
});

it('folders that no agent may get are refused before anything starts', async () => {
  await using scene = new Scene();
  const lib = folder(scene, 'lib');
  const refusal = async (...words: string[]) => (await scene.run([...words, scene.project, '--', 'true'])).stderr;
  expect(await refusal('exec', '--also', scene.project)).toContain('one is inside the other');
  expect(await refusal('exec', '--also', path.join(scene.project, 'src'))).toContain('one is inside the other');
  expect(await refusal('exec', '--also', lib, '--also', `${lib}:ro`)).toContain('one is inside the other');
  expect(await refusal('exec', '--also', scene.home)).toContain('your home directory');
  expect(await refusal('exec', '--also', path.join(scene.root, 'nowhere'))).toContain('no such folder');
  expect(await refusal('--bind', '--also', lib)).toContain('needs copy mode');
  expect(await sessionsOf(scene)).toEqual([]);
  scene.write('.run-claude.toml', `also = ["${lib}"]\n`);
  expect((await scene.run(['exec', '--dry-run', scene.project, '--', 'true'])).stdout).not.toContain('/also/');
});
