import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import {
  ClusterScene,
  canRunPods,
  execWords,
  ON,
  REFERENCE,
  SECRET,
} from '../../../support/kubernetes/cluster-scene.ts';
import { MASKED_ENV, plantEnv, SHOW_ENV } from '../../../support/planted-env.ts';
import { skipUnless } from '../../../support/requirement.ts';

const MINUTES = 60_000;

let scene: ClusterScene;

beforeAll(async () => {
  if (!canRunPods) return;
  scene = await ClusterScene.start('cluster', ['without-layer = ["no-log"]']);
  await scene.startProvider();
}, 10 * MINUTES);

afterAll(() => scene?.[Symbol.asyncDispose]());

beforeEach((context) => skipUnless(canRunPods, 'needs root, runc and the plugins of CNI', context));
afterEach(() => {
  if (scene !== undefined) scene.api.faults = {};
});

/** A session whose agent has written `name` and waits. */
async function startWaiting(name: string) {
  const started = scene.start(execWords(`echo 1 > ${name}; rm -f a.txt; echo WRITTEN; sleep 600`));
  await expect.poll(started.output, { timeout: 2 * MINUTES }).toContain('WRITTEN');
  return started;
}

it('a command runs in a pod, and its changes stay pending here', { timeout: 5 * MINUTES }, async () => {
  const { status, output } = await scene.run(...execWords('echo by-agent > made.txt; id -u'));
  expect([output, status]).toEqual([expect.stringContaining('1 file created'), 120]);
  expect(scene.api.names('Pod')).toEqual([]);
  expect((await scene.run('apply', scene.newest(), '--yes')).status).toBe(0);
  expect(readFileSync(path.join(scene.project, 'made.txt'), 'utf8')).toBe('by-agent\n');
});

it('no secret of the project enters a pod', { timeout: 5 * MINUTES }, async () => {
  using _planted = plantEnv(scene.project);
  const { output } = await scene.run(...execWords(SHOW_ENV));
  expect(output).toMatch(MASKED_ENV);
  expect(output).toContain('1 file masked (.env)');
});

it('an agent works in a pod; no object and no file of the node has the credential', {
  timeout: 5 * MINUTES,
}, async () => {
  const { status, output } = await scene.run(...ON, '--yes', '-p', 'go');
  expect([output, status]).toEqual([expect.stringContaining('1 file created'), 120]);
  expect(scene.api.received.length).toBeGreaterThan(5);
  expect([...scene.api.received, ...scene.api.asked].filter((one) => one.includes(SECRET))).toEqual([]);
  const found = execFileSync('sh', ['-c', 'grep -rlF -- "$1" "$2" || true', 'sh', SECRET, scene.node.logs], {
    encoding: 'utf8',
  });
  expect(found).toBe('');
  // What passes this machine is encoded there: nothing of it may be in the log either.
  const relayed = execFileSync('sh', ['-c', 'grep -rl relay-data "$1" || true', 'sh', scene.node.logs], {
    encoding: 'utf8',
  });
  expect(relayed).toBe('');
  const pods = scene.api.received.map((one) => JSON.parse(one)).filter(({ kind }) => kind === 'Pod');
  expect(new Set(pods.map(({ spec }) => spec.automountServiceAccountToken))).toEqual(new Set([false]));
  expect((await scene.run('apply', scene.newest(), '--yes')).status).toBe(0);
  expect(readFileSync(path.join(scene.project, 'claude.txt'), 'utf8')).toBe('by-claude\n');
  const session = scene.newest();
  expect(scene.api.claimsOf(session)).toHaveLength(1);
  const { output: removed } = await scene.run('gc');
  expect(removed).toContain(`layer ${session}`);
  expect([scene.api.names('Pod'), scene.api.claimsOf(session)]).toEqual([[], []]);
  expect(scene.api.names('NetworkPolicy').filter((name) => name.includes(session))).toEqual([]);
});

it('a provider that only this machine reaches is refused: the node would log its requests', {
  timeout: MINUTES,
}, async () => {
  const { ended, output } = scene.start([...ON, '--yes', '-p', 'go'], {
    ANTHROPIC_BASE_URL: 'http://127.0.0.1:9',
  });
  expect([await ended, output()]).toEqual([2, expect.stringContaining('a provider that only this machine reaches')]);
});

it('no probe gets through in a pod', { timeout: 5 * MINUTES }, async () => {
  const { status, output } = await scene.run('doctor', '--probe', ...ON);
  expect(output).toContain('PASS: every attack that can be tested here was stopped.');
  expect(status).toBe(0);
  expect(scene.api.names('Pod')).toEqual([]);
});

it('an evicted pod ends the session, which says so, and what it wrote is collected', {
  timeout: 5 * MINUTES,
}, async () => {
  const { ended, output } = await startWaiting('evicted.txt');
  await scene.api.evict(scene.agentPod());
  expect([output(), await ended]).toEqual([expect.anything(), 125]);
  expect(output()).toContain('Evicted: The node was low on resource: memory.');
  const { output: stat } = await scene.run('diff', '--stat', scene.newest());
  expect(stat).toMatch(/created .*evicted\.txt/);
  expect(stat).toMatch(/deleted .*a\.txt/);
});

it('a pod whose command was killed ends by itself, and a later command collects it', {
  timeout: 5 * MINUTES,
}, async () => {
  const { child, ended } = await startWaiting('lost.txt');
  const pod = scene.agentPod();
  child.kill('SIGKILL');
  await ended;
  await expect.poll(() => scene.api.phase(pod), { timeout: MINUTES, interval: 500 }).toBe('Failed');
  expect((await scene.run('diff', '--stat', scene.newest())).output).toMatch(/created .*lost\.txt/);
  expect(scene.api.names('Pod')).toEqual([]);
});

it.each(['KILL', 'STOP'])(
  'an agent that sends the watch of its pod SIG%s ends with the pod',
  {
    timeout: 5 * MINUTES,
  },
  async (signal) => {
    const others = 'cd /proc && ls -d [0-9]* | grep -vx -e 1 -e $$';
    const script = `echo 1 > ${signal}.txt; kill -${signal} $(${others}); sleep 600`;
    const { status, output } = await scene.run(...execWords(script));
    expect([output, status]).toEqual([expect.stringContaining('1 file created'), 120]);
    expect(scene.api.names('Pod')).toEqual([]);
  },
);

it('a connection that is cut ends the session, which says so', { timeout: 5 * MINUTES }, async () => {
  const { ended, output } = await startWaiting('cut.txt');
  scene.api.cut();
  expect(await ended).toBe(125);
  expect(output()).toMatch(/the connection to pod .* was lost|ended/);
  expect((await scene.run('diff', '--stat', scene.newest())).output).toMatch(/created .*cut\.txt/);
});

it('a pod that no node takes says why, and Ctrl-C removes what was made', { timeout: 5 * MINUTES }, async () => {
  scene.api.faults = { unschedulable: '0/3 nodes are available: 3 Insufficient memory.' };
  const { child, ended, output } = scene.start(execWords('true'));
  await expect.poll(output, { timeout: MINUTES }).toContain('0/3 nodes are available: 3 Insufficient memory.');
  child.kill('SIGINT');
  expect(await ended).toBe(130);
  expect([scene.api.names('Pod'), scene.api.claimsOf(scene.newest())]).toEqual([[], []]);
});

it('an image that cannot be pulled, a right that is missing, and a server that is down, each say so', {
  timeout: 5 * MINUTES,
}, async () => {
  const pull = await scene.configured(
    (text) => text.replace('registry.test', 'other.test'),
    () => scene.run(...execWords('true')),
  );
  expect([pull.output, pull.status]).toEqual([expect.stringContaining('the node cannot pull other.test'), 125]);
  scene.api.faults = {
    refuse: (method, url) =>
      method === 'POST' && url.includes('/pods')
        ? { status: 403, message: 'pods is forbidden: User "u" cannot create \u001b[31mresource "pods"' }
        : undefined,
  };
  const forbidden = await scene.run(...execWords('true'));
  expect(forbidden.output).toContain('refused (403): pods is forbidden: User "u" cannot create  [31mresource');
  expect(forbidden.status).toBe(125);
  scene.api.faults = { isDown: true };
  const down = await scene.run(...execWords('true'));
  expect([down.output, down.status]).toEqual([expect.stringContaining('does not answer'), 125]);
});

it('a session is resumed on its claim, and a slow server only takes longer', { timeout: 5 * MINUTES }, async () => {
  scene.api.faults = { delayMs: 200 };
  const first = await scene.run(...execWords('echo 1 > resumed.txt'));
  expect([first.output, first.status]).toEqual([expect.stringContaining('1 file created'), 120]);
  const { output } = await scene.run('resume', scene.newest(), '--', 'sh', '-c', 'cat resumed.txt > second.txt');
  expect(output).toContain('2 files created');
});

it('a node that lies about its image is refused, and its words act on no terminal', { timeout: MINUTES }, async () => {
  const other = `registry.test/other@sha256:${'b'.repeat(64)}`;
  scene.api.faults = { lie: (status) => JSON.parse(JSON.stringify(status).replaceAll(REFERENCE, other)) };
  const image = await scene.run(...execWords('true'));
  expect([image.output, image.status]).toEqual([expect.stringContaining('runs another image'), 125]);
  scene.api.faults = { lie: () => ({ phase: 'Failed', reason: '\u001b]0;x\u0007', message: 'y'.repeat(100_000) }) };
  const words = await scene.run(...execWords('true'));
  expect(words.output).toContain('ended before its program started');
  expect([words.output.includes('\u001b]0'), words.output.length < 5000, words.status]).toEqual([false, true, 125]);
});

it('a server that knows only the older protocol takes the same session', { timeout: 2 * MINUTES }, async () => {
  const known = scene.api.protocols;
  scene.api.protocols = ['v4.channel.k8s.io'];
  const { output } = await scene.run(...execWords('echo 1 > v4.txt'));
  scene.api.protocols = known;
  expect(output).toContain('1 file created');
});

it('refuses a lost layer that nobody named, and options that a pod does not support', {
  timeout: MINUTES,
}, async () => {
  const lost = await scene.configured(
    (text) => text.replace('["no-log"]', '[]'),
    () => scene.run(...execWords('true')),
  );
  expect([lost.output, lost.status]).toEqual([expect.stringContaining('--without-layer no-log'), 125]);
  const port = await scene.run('exec', ...ON, '--port', '3000', '--yes', '.', '--', 'true');
  expect([port.output, port.status]).toEqual([expect.stringContaining('does not support: --port'), 2]);
});

it('each task of a batch has pods of its own, and the changes of all stay pending', {
  timeout: 5 * MINUTES,
}, async () => {
  const tasks = path.join(scene.root, 'tasks.txt');
  writeFileSync(tasks, 'first task\nsecond task\n');
  // What an earlier session of the agent made would be unchanged.
  rmSync(path.join(scene.project, 'claude.txt'), { force: true });
  const { status, output } = await scene.run('batch', ...ON, '--jobs', '2', tasks);
  expect([output, status]).toEqual([expect.stringMatching(/2 tasks.*pending/s), 120]);
  expect(scene.api.names('Pod')).toEqual([]);
});

it('commits of the agent come home from a pod', { timeout: 5 * MINUTES }, async () => {
  const git = (...words: readonly string[]): string =>
    execFileSync('git', ['-C', scene.project, '-c', 'user.name=u', '-c', 'user.email=u@example.com', ...words], {
      encoding: 'utf8',
    });
  git('init', '-q');
  git('add', '.');
  git('commit', '-qm', 'first');
  const made = await scene.run(
    ...execWords(
      'echo 1 > by-commit.txt; git add . && git -c user.name=a -c user.email=a@example.com commit -qm of-the-agent',
    ),
  );
  expect([made.output, made.status]).toEqual([expect.stringContaining('1 file created'), 120]);
  const { output } = await scene.run('commits', scene.newest());
  expect(`${made.output}\n${output}`).toContain('of-the-agent');
});
