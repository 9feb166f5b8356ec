import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { skipUnless } from '../../../../support/requirement.ts';
import { firstRows } from '../../../../support/rows.ts';
import { packageRoot, Scene } from '../../../../support/scene.ts';
import { waitForOutput } from '../../../../support/sees.ts';

beforeEach((context) =>
  skipUnless(process.getuid?.() === 0, 'needs root, which alone can be another account', context),
);

/** A program that no library is preloaded into, as Go makes them. */
const STATIC =
  '#include <stdio.h>\n#include <unistd.h>\nint main(void) { puts("ready"); fflush(stdout); for (;;) pause(); }\n';
const SECRET = 'value-of-a-secret-variable-5c1f';

/** Run with another uid on the host: what it gets from the processes of a session. Prints one line for each success. */
const ATTACK = `
const fs = require('node:fs'), net = require('node:net');
const { pids, sockets } = JSON.parse(process.argv[1]);
const got = (what, pid, act) => { try { if (act() !== false) console.log(what, fs.readFileSync('/proc/' + pid + '/comm', 'utf8').trim()); } catch {} };
for (const pid of pids) {
  const root = '/proc/' + pid + '/root';
  got('environ', pid, () => fs.readFileSync('/proc/' + pid + '/environ'));
  got('descriptors', pid, () => fs.readdirSync('/proc/' + pid + '/fd').some((fd) => { try { return fs.readlinkSync('/proc/' + pid + '/fd/' + fd); } catch { return false; } }));
  got('memory', pid, () => fs.closeSync(fs.openSync('/proc/' + pid + '/mem')));
  got('files', pid, () => fs.readFileSync(root + '/workspace/README.md'));
  got('write', pid, () => fs.writeFileSync(root + '/workspace/from-' + process.getuid(), ''));
  for (const one of sockets) {
    const socket = net.connect(root + one).on('connect', () => { got('socket', pid, () => true); socket.destroy(); }).on('error', () => {});
  }
}`;

/** Every process of the session's containers that still runs, as this machine numbers them. */
function processesOf(id: string): readonly number[] {
  const names = ['ps', '--no-trunc', '-q', '--filter', `label=run-claude.session=${id}`];
  const containers = execFileSync('docker', names, { encoding: 'utf8' }).split('\n').filter(Boolean);
  return containers.flatMap((one) =>
    execFileSync('docker', ['top', one, '-eo', 'pid'], { encoding: 'utf8' })
      .split('\n')
      .slice(1)
      .filter(Boolean)
      .map(Number)
      // One that has just ended has no files any more.
      .filter((pid) => existsSync(`/proc/${pid}/root/run/run-claude`)),
  );
}

function command(pid: number): string {
  return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
}

/** The sockets below a directory of a container, as the container names them. */
function socketsBelow(root: string, dir: string): readonly string[] {
  return readdirSync(root + dir, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? socketsBelow(root, `${dir}/${entry.name}`) : entry.isSocket() ? [`${dir}/${entry.name}`] : [],
  );
}

/** The successes of an account with that number. Root's own show that each attack would work. */
function attack(uid: number, pids: readonly number[]): readonly string[] {
  const sockets = pids.flatMap((pid) => socketsBelow(`/proc/${pid}/root`, '/run/run-claude'));
  const as = uid === 0 ? [] : ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'];
  const [program = '', ...words] = [
    ...as,
    process.execPath,
    '-e',
    ATTACK,
    JSON.stringify({ pids, sockets: [...new Set(sockets)] }),
  ];
  const output = execFileSync(program, words, { encoding: 'utf8', cwd: '/' });
  return [...new Set(output.split('\n').filter(Boolean))].toSorted();
}

async function withSession(
  scene: Scene,
  words: readonly string[],
  use: (session: { readonly pids: readonly number[]; readonly uid: number }) => void,
): Promise<void> {
  const child = scene.spawn(['exec', '--copy-workspace', '--env', `TOKEN=${SECRET}`, scene.project, '--', ...words]);
  const ended = new Promise((resolve) => child.once('close', resolve));
  await waitForOutput(child, 'ready');
  const [id = ''] = readdirSync(path.join(scene.places().stateDir, 'sessions'));
  const user = execFileSync('docker', ['inspect', '--format', '{{.Config.User}}', `run-claude-${id}`], {
    encoding: 'utf8',
  });
  // The gateway makes its sockets while the program already runs.
  const sockets = () => processesOf(id).flatMap((pid) => socketsBelow(`/proc/${pid}/root`, '/run/run-claude'));
  await expect.poll(sockets, { timeout: 20_000 }).not.toEqual([]);
  use({ pids: processesOf(id), uid: Number(user.split(':')[0]) });
  child.kill('SIGTERM');
  await ended;
}

it('an account of the host gets nothing of a session that root runs, whatever its number is', {
  timeout: 120_000,
}, async () => {
  await using scene = new Scene();
  const source = path.join(scene.root, 'static.c');
  writeFileSync(source, STATIC);
  execFileSync('cc', ['-static', '-o', path.join(scene.project, 'waiter'), source]);
  await withSession(scene, ['./waiter'], ({ pids, uid }) => {
    const all = ['descriptors', 'environ', 'files', 'memory', 'socket', 'write'];
    // As the kernel has it: an account of the agent's number would get at its static programs.
    for (const one of [0, uid])
      for (const what of all) expect(attack(one, pids), String(one)).toContain(`${what} waiter`);
    for (const one of [1000, 1001, 61_000, 61_001, 65_534]) expect(attack(one, pids), String(one)).toEqual([]);
    // Neither a user nor a group has it.
    for (const database of ['passwd', 'group'])
      expect(() => execFileSync('getent', [database, String(uid)], { stdio: 'ignore' })).toThrow();
  });
});

it('run-claude’s own programs show nothing to a process of their own number', async () => {
  await using scene = new Scene();
  await withSession(
    scene,
    ['sh', '-c', 'curl -s --max-time 20 http://none.invalid; echo ready; exec sleep 600'],
    ({ pids, uid }) => {
      const ours = new Set(pids.map(command));
      expect([...ours]).toEqual(expect.arrayContaining(['init', 'forwarder', 'sleep', 'node']));
      expect(attack(0, pids)).toContain('environ forwarder');
      for (const one of [uid, 61_000]) expect(attack(one, pids), String(one)).toEqual([]);
    },
  );
});

it('the agent has a name and a home under any number', async () => {
  await using scene = new Scene();
  const script = `id -un; id -gn; stat -c %U ~ . README.md; node -p 'os.userInfo().homedir'; touch ~/made made; ssh -V 2>&1 | grep -c OpenSSH; ssh -o BatchMode=yes -p 1 127.0.0.1 2>&1 | grep -c 'No user exists'`;
  const { stdout } = await scene.run(['exec', '--copy-workspace', scene.project, '--', 'sh', '-c', script]);
  expect(stdout).toBe('agent\nagent\nagent\nagent\nagent\n/home/agent\n1\n0\n');
});

/** run-claude of an earlier release, which gave the agent uid 1000 where root ran it. */
function earlierRelease(dir: string): string {
  mkdirSync(dir);
  for (const name of readdirSync(packageRoot))
    if (name !== 'dist' && !name.startsWith('.')) symlinkSync(path.join(packageRoot, name), path.join(dir, name));
  cpSync(path.join(packageRoot, 'dist'), path.join(dir, 'dist'), { recursive: true });
  let changed = 0;
  for (const name of readdirSync(path.join(dir, 'dist')).filter((one) => one.endsWith('.js'))) {
    const file = path.join(dir, 'dist', name);
    const text = readFileSync(file, 'utf8');
    const earlier = text.replace('if (uid !== 0) return FIRST;', 'return 1000;');
    if (earlier !== text) changed++;
    writeFileSync(file, earlier);
  }
  expect(changed).toBe(1);
  return path.join(dir, 'dist', 'main.js');
}

it.each(firstRows(1, ['auto', 'copy', 'volume']))(
  'a session with uid 1000 of an earlier release is resumed, reviewed, applied, undone and removed (%s)',
  async (strategy) => {
    await using scene = new Scene();
    const main = earlierRelease(path.join(scene.root, 'earlier'));
    const before = scene.fingerprint();
    const start = (script: string): string[] => [
      ...['exec', strategy === 'auto' ? '--copy-workspace' : `--copy-workspace=${strategy}`],
      ...[scene.project, '--', 'sh', '-c', script],
    ];
    const words = [main, ...start('id -u; echo inside > made.txt; chmod 600 made.txt; echo more >> README.md')];
    let first = '';
    try {
      execFileSync(process.execPath, words, { cwd: scene.project, env: scene.env, encoding: 'utf8', stdio: 'pipe' });
    } catch (error) {
      first = String((error as { readonly stdout: unknown }).stdout);
    }
    expect(first).toBe('1000\n');

    // A session of today, next to the one that is pending: its copy belongs to another number.
    const today = await scene.run(start('id -u; cat README.md; ls -n README.md | cut -d" " -f3'));
    expect(today).toMatchObject({ status: 0, stdout: '61100\n# sample\n61100\n' });
    const [{ id }] = JSON.parse((await scene.run(['sessions', '--json'])).stdout).filter(
      ({ stage }: { readonly stage: string }) => stage === 'pending',
    );

    expect((await scene.run(['diff', '--stat', id])).stdout).toBe(
      'modified +1 -0       README.md\ncreated  +1 -0       made.txt\n',
    );
    const resumed = await scene.run([
      'resume',
      id,
      '--',
      'sh',
      '-c',
      'id -u; cat made.txt; echo two >> made.txt; touch ~/x',
    ]);
    expect(resumed).toMatchObject({ status: 120, stdout: '1000\ninside\n' });
    const explored = await scene.run(['explore', id], { input: 'id -u; cat made.txt\n' });
    expect(explored.stdout).toBe('1000\ninside\ntwo\n');
    const applied = await scene.run(['apply', '--yes', id]);
    expect([applied.status, applied.stderr]).toEqual([0, expect.stringContaining('Applied 2 ')]);
    expect(scene.shell('cat made.txt; stat -c %u:%g made.txt README.md')).toBe('inside\ntwo\n0:0\n0:0\n');
    expect((await scene.run(['undo', id, '--yes'])).status).toBe(0);
    expect(scene.fingerprint()).toBe(before);
    expect((await scene.run(['discard', id, '--yes'])).status).toBe(0);
    expect((await scene.run(['gc'])).status).toBe(0);
  },
);
