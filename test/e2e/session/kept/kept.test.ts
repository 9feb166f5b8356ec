import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { readRecord } from '../../../../src/session/record/session.ts';
import { Scene } from '../../../support/scene.ts';

/** A zombie has ended; who reaps it is another matter. */
const isAlive = (pid: number): boolean =>
  existsSync(`/proc/${pid}/stat`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
const recordOf = (scene: Scene, id: string) => readRecord(path.join(scene.places().stateDir, 'sessions', id));

/** What a process may do, as the kernel tells it, and what it may see of the first process. */
const FACTS = [
  'grep -E "^(Uid|Gid|Groups|Cap|NoNewPrivs|Seccomp)" /proc/self/status',
  'cat /proc/self/cgroup',
  'ulimit -c -n',
  'env | grep -vE "^(_|PWD|SHLVL|OLDPWD|TERM)=" | sort',
  'for f in environ mem maps; do head -c 1 /proc/1/$f >/dev/null 2>&1; echo $f $?; done',
  'for f in root cwd fd; do ls /proc/1/$f/ >/dev/null 2>&1; echo $f $?; done',
  'readlink /proc/self/ns/net /proc/self/ns/pid /proc/self/ns/mnt',
].join('; ');

it('a kept session: up, commands that come and go with the layers of an agent, down and its review', async () => {
  await using scene = new Scene();
  const before = scene.fingerprint();
  const up = await scene.run(['up', '--json']);
  expect(up.stderr).toContain('Run a command: run-claude exec --session');
  expect(up.status).toBe(0);
  const { id, new: isNew } = JSON.parse(up.stdout);
  expect(isNew).toBe(true);
  expect((await scene.run(['up'], { cwd: path.join(scene.project) })).stdout).toBe(`${id}\n`);

  const inside = (script: string, input = '') =>
    scene.run(['exec', '--session', id, '--', 'sh', '-c', script], { input });
  expect(await inside('cat; echo err >&2; exit 7', 'typed')).toMatchObject({
    stdout: 'typed',
    stderr: 'err\n',
    status: 7,
  });
  expect((await inside('echo made > made.txt; echo more >> README.md')).status).toBe(0);
  expect((await inside('cat made.txt')).stdout).toBe('made\n');

  // The kept connection, and the engine's own start of a program, as an agent of its own session.
  const kept = (await inside(FACTS)).stdout;
  const agent = (await scene.run(['exec', '--', 'sh', '-c', FACTS])).stdout;
  const same = (text: string): string => text.replace(/\b(net|pid|mnt):\[\d+\]/g, '$1');
  expect(same(kept)).toBe(same(agent));
  expect(kept).toMatch(/CapBnd:\s+0+\n[\s\S]*NoNewPrivs:\s+1\nSeccomp:\s+2\n/);
  expect(kept).toContain('environ 1\nmem 1\nmaps 1\n');

  await using pty = scene.pty(['exec', '--session', id], { columns: 90, rows: 31 });
  pty.send(`${FACTS}; stty size; printf '\\033]52;c;QUJD\\007'; echo END\r`);
  const end = await pty.see(/\nEND\r+\n/);
  const shown = pty.output.slice(0, end).replaceAll('\r', '');
  for (const line of kept.split('\n').filter((one) => /^(Uid|Cap|NoNew|Seccomp|net|pid|mnt|environ|mem)/.test(one)))
    expect(shown).toContain(line);
  expect(shown).toContain('31 90\n');
  expect(pty.output).not.toContain('\u001b]52;');
  pty.send('sleep 100\r');
  await new Promise((resolve) => setTimeout(resolve, 300));
  pty.send('\u0003');
  pty.send('exit 9\r');
  expect(await pty.exited).toBe(9);
  expect((await inside('pgrep sleep')).status).toBe(1);

  const status = await scene.run(['status', id]);
  expect(status.stdout).toContain('so far: 1 modified, 1 created');
  expect(status.stdout).toContain(`run-claude down ${id}`);
  expect(scene.fingerprint()).toBe(before);
  const owner = recordOf(scene, id)?.owner?.pid as number;
  const down = await scene.run(['down']);
  expect(down.stderr).toContain('Its changes are pending');
  expect(down.status).toBe(120);
  await expect.poll(() => isAlive(owner)).toBe(false);
  expect(recordOf(scene, id)).toMatchObject({ stage: 'pending', stoppedBecause: 'run-claude down' });
  const late = await inside('true');
  expect([late.status, late.stderr]).toEqual([125, expect.stringContaining('is not running')]);
  // It has ended already: what is left to say is what its review would be.
  const again = await scene.run(['down', id]);
  expect([again.status, again.stderr]).toEqual([120, expect.stringContaining('Its changes are pending')]);
  expect(scene.fingerprint()).toBe(before);
  expect((await scene.run(['apply', id, '--yes'])).status).toBe(0);
  expect(scene.git('status', '--porcelain')).toBe(' M README.md\n?? made.txt\n');
});

it('a holder that is killed leaves no container that runs, and its session is collected by the next command', async () => {
  await using scene = new Scene();
  const id = (await scene.run(['up'])).stdout.trim();
  await scene.run(['exec', '--session', id, '--', 'sh', '-c', 'echo kept > kept.txt; (sleep 500 &)']);
  process.kill(recordOf(scene, id)?.owner?.pid as number, 'SIGKILL');
  const running = (): string =>
    execFileSync('docker', ['ps', '-q', '--filter', `name=^run-claude-${id}$`], { encoding: 'utf8' });
  await expect.poll(running).toBe('');
  const next = (await scene.run(['up'])).stdout.trim();
  expect(next).not.toBe(id);
  expect((await scene.run(['exec', '--session', next, '--', 'ls'])).stdout).not.toContain('kept.txt');
  expect(recordOf(scene, id)?.stage).toBe('pending');
  expect((await scene.run(['apply', id, '--yes'])).status).toBe(0);
  expect(readFileSync(path.join(scene.project, 'kept.txt'), 'utf8')).toBe('kept\n');
  await scene.run(['stop', next]);
});

it('a session without commands ends after its idle time, and stays pending', async () => {
  await using scene = new Scene();
  const id = (await scene.run(['up', '--idle-timeout', '8s'])).stdout.trim();
  await scene.run(['exec', '--session', id, '--', 'sh', '-c', 'echo late > late.txt; sleep 9; echo later >> late.txt']);
  await expect.poll(() => recordOf(scene, id)?.owner).toBeUndefined();
  expect(recordOf(scene, id)).toMatchObject({ stage: 'pending', stoppedBecause: 'no command for 8s' });
  expect((await scene.run(['diff', id])).stdout).toContain('+later');
});

it('a program is not started where the container is weaker than its session was planned', async () => {
  await using scene = new Scene();
  const id = (await scene.run(['up'])).stdout.trim();
  const file = path.join(scene.places().stateDir, 'sessions', id, 'session.json');
  const record = JSON.parse(readFileSync(file, 'utf8'));
  // As if the engine had given it more processes than it was asked for.
  writeFileSync(
    file,
    JSON.stringify({ ...record, plan: { ...record.plan, policy: { ...record.plan.policy, pids: 16 } } }),
  );
  await using pty = scene.pty(['exec', '--session', id, '--', 'touch', 'ran']);
  await pty.see(/is not as asked: limits: pids is 4096/);
  expect(await pty.exited).toBe(125);
  expect((await scene.run(['exec', '--session', id, '--', 'ls', 'ran'])).status).not.toBe(0);
  writeFileSync(file, JSON.stringify(record));
  await scene.run(['stop', id]);
});
