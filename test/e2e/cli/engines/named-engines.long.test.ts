import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { listSessions } from '../../../../src/session/record/session.ts';
import { MASKED_ENV, plantEnv, SHOW_ENV } from '../../../support/planted-env.ts';
import { RemoteEngines } from '../../../support/remote-engines.ts';
import { Scene } from '../../../support/scene.ts';
import { waitForOutput } from '../../../support/sees.ts';

// Three daemons of the test's own, each behind an ssh server and its own link.
const remote = new RemoteEngines();
beforeAll(async () => {
  await remote.open({ near: {}, far: {}, small: { disk: '700m' } });
}, 900_000);
afterAll(() => remote[Symbol.asyncDispose]());

function openScene(settings = ''): Scene {
  const scene = new Scene({ env: { PATH: remote.path } });
  const dir = path.join(scene.root, 'config/run-claude');
  mkdirSync(dir, { recursive: true });
  writeFileSync(path.join(dir, 'config.toml'), `memory = "512m"\n${settings}\n${remote.config}`);
  return scene;
}

const sessionsOf = (scene: Scene) => listSessions(scene.places().stateDir).sessions;
const exec = (on: string, script: string): string[] => [
  'exec',
  '--on',
  on,
  '--network',
  'none',
  '--',
  'sh',
  '-c',
  script,
];
const idOf = (scene: Scene): string => sessionsOf(scene)[0]?.id ?? 'none';

it('a session runs on the engine of its name, and later commands find it there by its record', async () => {
  await using scene = openScene();
  const started = await scene.run(exec('far', 'echo made > made.txt'));
  expect([started.status, started.stderr]).toEqual([120, expect.stringContaining('runs on     far: ssh://')]);
  const id = idOf(scene);
  expect(remote.named('far').engine.docker('volume', 'ls', '-q')).toContain(`run-claude-${id}-layer`);
  expect(remote.named('near').engine.docker('volume', 'ls', '-q')).not.toContain(id);
  expect((await scene.run(['sessions'])).stdout).toMatch(new RegExp(`^${id}  far  `, 'm'));
  expect(JSON.parse((await scene.run(['sessions', '--json'])).stdout)).toMatchObject([
    { engine: 'far', endpoint: remote.named('far').host },
  ]);
  expect((await scene.run(['status'])).stdout).toContain('on far');
  const again = await scene.run(['resume', id, '--', 'sh', '-c', 'cat made.txt; echo more > more.txt']);
  expect([again.status, again.stdout]).toEqual([120, 'made\n']);
  expect((await scene.run(['apply', '--yes'])).status).toBe(0);
  expect(readFileSync(path.join(scene.project, 'more.txt'), 'utf8')).toBe('more\n');
  expect((await scene.run(['doctor', '--on', 'far'])).stdout).toContain(`far: Docker`);

  // Two hours later the engine holds nothing more of it but the copy of the project.
  const gc = await scene.run(['gc', '--yes', '--json']);
  expect(gc.status).toBe(0);
  expect(remote.named('far').engine.docker('volume', 'ls', '-q')).not.toContain(`run-claude-${id}-layer`);
});

it('no secret of the project reaches an engine behind ssh', async () => {
  await using scene = openScene();
  using _planted = plantEnv(scene.project);
  const { stdout, stderr } = await scene.run(exec('far', SHOW_ENV));
  expect(stdout).toMatch(MASKED_ENV);
  expect(stderr).toContain('1 file masked (.env)');
});

it('sends the project once to each engine, then differences, also where sessions alternate; one login a command', async () => {
  await using scene = openScene();
  scene.write('large.bin', Buffer.alloc(8 << 20, 7));
  const inodeThere = async (on: string): Promise<number> => {
    const { status, stderr } = await scene.run(['exec', '--trace', ...exec(on, 'cat small.txt').slice(1)]);
    expect(status, stderr).toBe(0);
    const [base = ''] = readdirSync(path.join(scene.places().cacheDir, 'bases'));
    const inspect = ['volume', 'inspect', '-f', '{{.Mountpoint}}', `run-claude-base-${base}`];
    const at = remote
      .named(on)
      .engine.docker(...inspect)
      .trim();
    const newest = readdirSync(at).sort().at(-1) ?? '';
    return statSync(path.join(at, newest, 'tree/large.bin')).ino;
  };
  const inodes: Record<string, number[]> = { near: [], far: [] };
  for (const [round, on] of ['near', 'far', 'near', 'far'].entries()) {
    scene.write('small.txt', `round ${round}\n`);
    const before = remote.named(on).front.logins();
    inodes[on]?.push(await inodeThere(on));
    expect(remote.named(on).front.logins() - before).toBe(1);
  }
  // The large file was not sent again: it is the same file.
  expect(inodes['near']?.[0]).toBe(inodes['near']?.[1]);
  expect(inodes['far']?.[0]).toBe(inodes['far']?.[1]);
});

it('two names of one engine share its copy of the project, and neither removes what a session of the other uses', async () => {
  const { host } = remote.named('near').engine;
  await using scene = openScene(`[engine.same]\nhost = "${host}"\n`);
  const child = scene.spawn(exec('near', 'echo up; until [ -e go ]; do sleep 0.2; done; cat README.md'));
  await waitForOutput(child, 'up');
  scene.write('README.md', '# another\n');
  const other = await scene.run(exec('same', 'cat README.md'));
  expect([other.status, other.stdout]).toEqual([0, '# another\n']);
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const id = sessionsOf(scene).find(({ plan }) => plan.engine.on === 'near')?.id ?? '';
  await scene.run(['exec', '--session', id, '--', 'touch', 'go']);
  await new Promise((resolve) => child.once('close', resolve));
  expect(output).toContain('# sample');
});

it('of several engines takes the one with the fewest sessions; a full one is passed over with the reason', async () => {
  await using scene = openScene();
  const first = scene.spawn(exec('small,near,far', 'echo up; sleep 900'));
  let output = '';
  first.stderr?.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  await waitForOutput(first, 'up');
  expect(output).toMatch(/Engine small is passed over: its disk is full: \d+m are free/);
  const second = await scene.run(exec('small,near,far', 'true'));
  expect(second.status).toBe(0);
  expect(sessionsOf(scene).map(({ plan }) => plan.engine.on)).toEqual(['far', 'near']);
  first.kill('SIGTERM');
  await new Promise((resolve) => first.once('close', resolve));

  const none = await scene.run([...exec('small,near', 'true').slice(0, 3), '--memory', '900g', '--', 'true']);
  expect([none.status, none.stderr]).toEqual([
    125,
    expect.stringMatching(
      /no engine of --on can take the session:\n.*small: its disk is full.*\n.*near: it has \d+m of memory, and this session may take 900g/,
    ),
  ]);
});

it('batch spreads its sessions over the engines', async () => {
  await using scene = openScene('[agents.waits]\nprogram = ["sleep"]\nprint = ["1"]\n');
  const file = path.join(scene.root, 'tasks');
  // Each prompt is a word of the agent's: so many seconds.
  writeFileSync(file, ['30', '31', '32', '33'].join('\n'));
  const words = ['batch', '--on', 'near,far', '--agent', 'waits', '--network', 'none', '--jobs', '4', file];
  const { status, stdout } = await scene.run(words);
  expect([status, stdout]).toEqual([0, expect.anything()]);
  const on = sessionsOf(scene).map(({ plan }) => plan.engine.on);
  expect(on.sort()).toEqual(['far', 'far', 'near', 'near']);
});

it('an engine that is too slow is passed over; alone it is used', async () => {
  await using scene = openScene();
  const { link } = remote.named('near');
  link.delayMs = 3000;
  try {
    const { status, stderr } = await scene.run(exec('near,far', 'true'));
    expect([status, stderr]).toEqual([0, expect.stringMatching(/Engine near is passed over: .*(no answer|too slow)/)]);
    expect(sessionsOf(scene).map(({ plan }) => plan.engine.on)).toEqual(['far']);
  } finally {
    link.delayMs = 0;
  }
  link.delayMs = 100;
  try {
    expect((await scene.run(exec('near', 'true'))).status).toBe(0);
  } finally {
    link.delayMs = 0;
  }
});

it('an engine that is cut off ends its session with a message; other commands go on, and the changes are collected later', async () => {
  await using scene = openScene();
  const { link } = remote.named('far');
  const child = scene.spawn(exec('far', 'echo work > work.txt; echo up; sleep 900'));
  let output = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  await waitForOutput(child, 'up');
  const id = idOf(scene);
  link.isCut = true;
  try {
    expect(await ended).toBe(125);
    expect(output).toMatch(/stopped answering/);
    const timed = async (words: readonly string[]) => {
      const from = Date.now();
      const result = await scene.run(words);
      return { ...result, took: Date.now() - from };
    };
    const sessions = await timed(['sessions', '--all']);
    expect([sessions.status, sessions.stdout]).toEqual([0, expect.stringContaining(id)]);
    expect(sessions.took).toBeLessThan(5000);
    const status = await timed(['status', id]);
    expect([status.status, status.stderr]).toEqual([
      0,
      expect.stringMatching(/Session .* is not collected yet: its engine far at ssh:.* does not answer/),
    ]);
    expect(status.took).toBeLessThan(45_000);
    const gc = await timed(['gc', '--yes']);
    expect([gc.status, gc.stderr]).toEqual([0, expect.stringMatching(/Engine far at ssh:.* does not answer/)]);
    expect(gc.took).toBeLessThan(45_000);
    const elsewhere = await timed(exec('far,near', 'true'));
    expect([elsewhere.status, elsewhere.stderr]).toEqual([0, expect.stringContaining('Engine far is passed over: ')]);
    expect(elsewhere.took).toBeLessThan(150_000);
  } finally {
    link.isCut = false;
  }
  const diff = await scene.run(['diff', '--name-only', id]);
  expect([diff.status, diff.stdout]).toEqual([0, 'work.txt\n']);
  expect((await scene.run(['apply', '--yes', id])).status).toBe(0);
  expect(readFileSync(path.join(scene.project, 'work.txt'), 'utf8')).toBe('work\n');
});

it('a full disk of an engine fails the session with the reason, and leaves nothing half sent', async () => {
  await using scene = openScene();
  const { engine } = remote.named('small');
  const filler = path.join(engine.dir, 'data/filler');
  execFileSync('sh', ['-c', `dd if=/dev/zero of=${filler} bs=1M status=none || true`]);
  try {
    const result = await scene.run(exec('small', 'true'));
    expect([result.status, result.stderr]).toEqual([125, expect.stringMatching(/no space left|disk is full/i)]);
  } finally {
    execFileSync('rm', [filler]);
  }
  expect((await scene.run(exec('small', 'cat README.md'))).stdout).toBe('# sample\n');
});

it('a name that config.toml gave to another engine since is refused for a session of the earlier one', async () => {
  await using scene = openScene();
  expect((await scene.run(exec('far', 'echo x > x.txt'))).status).toBe(120);
  const file = path.join(scene.root, 'config/run-claude/config.toml');
  writeFileSync(file, readFileSync(file, 'utf8').replace(remote.named('far').host, remote.named('near').host));
  const refused = await scene.run(['resume', idOf(scene), '--', 'true']);
  expect([refused.status, refused.stderr]).toEqual([
    125,
    expect.stringMatching(/the session is on engine far at ssh:.*config\.toml is now ssh:/),
  ]);
  // What was collected is here: no engine is asked.
  expect((await scene.run(['apply', '--yes'])).status).toBe(0);
});
