import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { listSessions } from '../../../../src/session/record/session.ts';
import { connectForTest } from '../../../support/engine.ts';
import { testImage } from '../../../support/image.ts';
import { MASKED_ENV, plantEnv, SHOW_ENV } from '../../../support/planted-env.ts';
import { skipUnless } from '../../../support/requirement.ts';
import { mainJs } from '../../../support/scene.ts';
import { hasSlurm, SlurmCluster } from '../../../support/slurm-cluster.ts';
import { type StandIn, startMessagesApi } from '../../../support/stand-in/messages-api.mjs';
import { collectOutput } from '../../../support/started-command.ts';

const isAble = hasSlurm();
const USER_VALUE = 'a value of --env, of the user alone';
const SECRET = 'sk-ant-api03-of-the-stand-in-for-slurm';
const MINUTES = 60_000;

let cluster: SlurmCluster;
let standIn: StandIn;
let root: string;
let project: string;

beforeAll(async () => {
  if (!isAble) return;
  const engine = await connectForTest('slurm');
  await testImage(engine);
  await engine.close();
  standIn = await startMessagesApi({
    turns: [],
    turnFor: (body: unknown) =>
      JSON.stringify(body).includes('"role":"assistant"')
        ? { text: 'Done.' }
        : { tools: [{ name: 'Bash', input: { command: 'echo by-agent > made.txt' } }] },
  });
  cluster = await SlurmCluster.start();
  root = mkdtempSync(path.join(tmpdir(), 'rc-slurm-user-'));
  project = path.join(root, 'project');
  const config = path.join(root, '.config/run-claude');
  mkdirSync(config, { recursive: true });
  mkdirSync(project);
  writeFileSync(
    path.join(config, 'config.toml'),
    `[slurm]\ndirectory = "${cluster.shared}"\nscratch = "${cluster.scratch}"\npatience = 15\nwithout-layer = ["gateway-network", "memory", "swap"]\n`,
  );
  writeFileSync(path.join(project, 'a.txt'), 'hello\n');
  spawnSync('chown', ['-R', `${cluster.user.uid}:${cluster.user.gid}`, root]);
  chmodSync(root, 0o755);
  chownSync(root, cluster.user.uid, cluster.user.gid);
}, 10 * MINUTES);

afterAll(async () => {
  await standIn?.close();
  await cluster?.[Symbol.asyncDispose]();
  if (root !== undefined) rmSync(root, { recursive: true, force: true });
});

beforeEach((context) => skipUnless(isAble, 'needs root, Slurm, munge, runc and crun', context));

/** Starts run-claude as the user of the cluster. */
function start(...words: readonly string[]) {
  const group = String(statSync('/var/run/docker.sock').gid);
  const as = ['--reuid', String(cluster.user.uid), '--regid', String(cluster.user.gid), '--groups', group];
  const child = spawn('setpriv', [...as, process.execPath, mainJs, ...words], {
    cwd: project,
    env: {
      PATH: process.env['PATH'],
      HOME: root,
      LANG: 'C.UTF-8',
      SLURM_CONF: cluster.conf,
      ANTHROPIC_BASE_URL: standIn.url,
      ANTHROPIC_API_KEY: SECRET,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return collectOutput(child);
}

async function run(...words: readonly string[]): Promise<{ readonly status: number | null; readonly output: string }> {
  const { ended, output } = start(...words);
  return { status: await ended, output: output() };
}

const newest = (): string => listSessions(path.join(root, '.local/state/run-claude')).sessions[0]?.id ?? '';

/** A session whose agent has written `name` and waits. */
async function startWaiting(name: string, partition = 'test') {
  const started = start(
    'exec',
    '--on',
    `slurm:${partition}`,
    '--yes',
    '--env',
    `USER_VALUE=${USER_VALUE}`,
    '.',
    '--',
    'sh',
    '-c',
    `echo 1 > ${name}; rm -f a.txt; echo WRITTEN "$USER_VALUE"; sleep 600 # ärger`,
  );
  await expect.poll(started.output, { timeout: 2 * MINUTES }).toContain(`WRITTEN ${USER_VALUE}`);
  const [job] = cluster.jobs();
  if (job === undefined) throw new Error('no job runs');
  return { ...started, job };
}

async function untilNoJob(): Promise<void> {
  await expect.poll(() => cluster.jobs().length, { timeout: 2 * MINUTES, interval: 1000 }).toBe(0);
}

/** A user, or an administrator, may allow a job to start again although its submission did not. */
function allowRequeue(job: string): void {
  cluster.query('scontrol', 'update', `jobid=${job}`, 'requeue=1');
}

/** Neither running nor waiting. */
async function untilEmptyQueue(): Promise<void> {
  await expect.poll(() => cluster.query('squeue', '-h'), { timeout: 2 * MINUTES, interval: 1000 }).toBe('');
}

it('an agent runs in a job, its changes come home, and the job ends', { timeout: 10 * MINUTES }, async () => {
  const { status, output } = await run('--on', 'slurm:test', '--yes', '-p', 'go');
  expect([output, status]).toEqual([expect.stringContaining('1 file created'), 120]);
  await untilNoJob();
  expect((await run('apply', newest(), '--yes')).status).toBe(0);
  expect(readFileSync(path.join(project, 'made.txt'), 'utf8')).toBe('by-agent\n');
  // The next agent makes it as well.
  rmSync(path.join(project, 'made.txt'));
  expect(cluster.filesWith(SECRET)).toEqual([]);
});

it('no secret of the project enters a job', { timeout: 5 * MINUTES }, async () => {
  using _planted = plantEnv(project);
  const { output } = await run('exec', '--on', 'slurm:test', '--yes', '.', '--', 'sh', '-c', SHOW_ENV);
  expect(output).toMatch(MASKED_ENV);
  expect(output).toContain('1 file masked (.env)');
});

it('crun runs a session too, next to other processes of the user', { timeout: 5 * MINUTES }, async () => {
  // As many as the smallest container may have, so that they count where its limit counts them.
  const others = Array.from({ length: 40 }, () =>
    spawn('setpriv', [`--reuid=${cluster.user.uid}`, '--clear-groups', 'sleep', '300'], { stdio: 'ignore' }),
  );
  try {
    const { output } = await run('--on', 'slurm:crun', '--yes', '-p', 'go');
    expect(output).toMatch(/runs on \S+ \(crun\)/);
    expect(output).toContain('1 file created');
    expect((await run('discard', '--yes', newest())).status).toBe(0);
  } finally {
    for (const one of others) one.kill();
  }
});

it('a batch is one job a task, side by side', { timeout: 5 * MINUTES }, async () => {
  const tasks = path.join(root, 'tasks');
  rmSync(path.join(project, 'made.txt'), { force: true });
  writeFileSync(tasks, 'one\ntwo\n', { mode: 0o644 });
  const { output } = await run('batch', '--on', 'slurm:test', '--jobs', '2', tasks);
  expect(output.match(/^ +[12] {2}pending +1 /gm)).toHaveLength(2);
  await untilNoJob();
});

it('scancel ends a session that says so, and what the agent wrote is collected', { timeout: 5 * MINUTES }, async () => {
  const { job, ended, output } = await startWaiting('cancelled.txt');
  const shown =
    cluster.query('scontrol', 'show', 'job', '-dd', job.id) +
    cluster.query('scontrol', 'write', 'batch_script', job.id, '-');
  expect(shown).toContain(job.id);
  expect(shown).not.toContain(SECRET);
  for (const text of [SECRET, USER_VALUE, 'rm -f a.txt']) expect(cluster.filesWith(text)).toEqual([]);
  // The kernel does not define what two overlays over one upper directory do.
  await cluster.untilContainers(3);
  expect(cluster.overlays()).toHaveLength(1);
  cluster.query('scancel', job.id);
  expect(await ended).toBe(125);
  expect(output()).toContain(`job ${job.id} ended: CANCELLED`);
  const { output: stat } = await run('diff', '--stat', newest());
  expect(stat).toMatch(/created .*cancelled\.txt/);
  expect(stat).toMatch(/deleted .*a\.txt/);
  await untilNoJob();
});

it('a job whose command was killed ends by itself, and a later command collects it', {
  timeout: 5 * MINUTES,
}, async () => {
  const { child, ended } = await startWaiting('lost.txt');
  child.kill('SIGKILL');
  await ended;
  await untilNoJob();
  expect((await run('diff', '--stat', newest())).output).toMatch(/created .*lost\.txt/);
  await untilNoJob();
});

it('a node that fails leaves a session that says so', { timeout: 5 * MINUTES }, async () => {
  const { job, ended, output } = await startWaiting('failed.txt');
  const session = newest();
  cluster.failNode(job.node, session);
  expect(await ended).toBe(125);
  expect(output()).toContain(`job ${job.id} ended: NODE_FAIL`);
  const { status, output: stat } = await run('diff', '--stat', session);
  expect([stat, status]).toEqual([expect.stringContaining('ended before it saved what its agent wrote'), 125]);
  const [record] = listSessions(path.join(root, '.local/state/run-claude')).sessions;
  expect([record?.id, record?.stage]).toEqual([session, 'failed']);
});

it('a node that fails does not give its job to another one', { timeout: 5 * MINUTES }, async () => {
  const down = cluster.query('sinfo', '-h', '-N', '-p', 'test', '-t', 'down', '-o', '%N').trim();
  if (down !== '') await cluster.reviveNode(down);
  const { job, ended, output } = await startWaiting('moved.txt');
  const session = newest();
  allowRequeue(job.id);
  cluster.failNode(job.node, session);
  expect(await ended).toBe(125);
  expect(output()).toContain(`job ${job.id} ended: REQUEUED`);
  await untilEmptyQueue();
  expect((await run('diff', '--stat', session)).output).toContain('ended before it saved what its agent wrote');
  await cluster.reviveNode(job.node);
});

it('a requeued job ends its session, which says so and is collected', { timeout: 5 * MINUTES }, async () => {
  const { job, ended, output } = await startWaiting('requeued.txt');
  allowRequeue(job.id);
  cluster.query('scontrol', 'requeue', job.id);
  expect(await ended).toBe(125);
  expect(output()).toContain(`job ${job.id} ended: REQUEUED`);
  await untilEmptyQueue();
  expect((await run('diff', '--stat', newest())).output).toMatch(/created .*requeued\.txt/);
  await untilNoJob();
});

it('a requeued job of a lost command starts again, and runs nothing', { timeout: 8 * MINUTES }, async () => {
  const { child, job, ended } = await startWaiting('again.txt');
  const session = newest();
  child.kill('SIGKILL');
  await ended;
  allowRequeue(job.id);
  cluster.query('scontrol', 'requeue', job.id);
  const run1 = path.join(cluster.shared, 'sessions', session, 'run-1');
  await expect.poll(() => existsSync(path.join(run1, 'saved')), { timeout: MINUTES }).toBe(true);
  // It would wait two minutes.
  await expect
    .poll(() => cluster.query('squeue', '-h', '-t', 'PENDING', '-o', '%i').trim(), { timeout: MINUTES })
    .toBe(job.id);
  cluster.query('scontrol', 'update', `jobid=${job.id}`, 'starttime=now');
  await expect.poll(() => existsSync(path.join(run1, 'failed')), { timeout: 4 * MINUTES }).toBe(true);
  expect(readFileSync(path.join(run1, 'failed'), 'utf8')).toBe('it was requeued, and a job does not run twice\n');
  await untilEmptyQueue();
  expect((await run('diff', '--stat', session)).output).toMatch(/created .*again\.txt/);
  await untilNoJob();
});

it('a job whose time is over saves what its agent wrote, and the session says so', {
  timeout: 6 * MINUTES,
}, async () => {
  const { job, ended, output } = await startWaiting('late.txt', 'brief');
  expect(await ended).toBe(125);
  expect(output()).toContain(`job ${job.id} ended: TIMEOUT`);
  expect((await run('diff', '--stat', newest())).output).toMatch(/created .*late\.txt/);
  await untilNoJob();
});

it('gc removes what a session without a record left in the shared directory', { timeout: 5 * MINUTES }, async () => {
  // gc opens the engines that records name.
  await run('exec', '--on', 'slurm:test', '--yes', '.', '--', 'true');
  const { child, ended } = await startWaiting('unrecorded.txt');
  child.kill('SIGKILL');
  await ended;
  await untilNoJob();
  const session = newest();
  const left = path.join(cluster.shared, 'sessions', session);
  rmSync(path.join(root, '.local/state/run-claude/sessions', session), { recursive: true });
  expect((await run('gc')).output).not.toContain(session);
  const past = new Date(Date.now() - 120 * MINUTES);
  for (const dir of [left, path.join(left, 'run-1')]) utimesSync(dir, past, past);
  expect((await run('gc')).output).toContain(session);
  expect(existsSync(left)).toBe(false);
});

it('a start does not wait for long until an earlier session is collected, and Ctrl-C ends a wait', {
  timeout: 6 * MINUTES,
}, async () => {
  const { child, ended } = await startWaiting('held.txt');
  child.kill('SIGKILL');
  await ended;
  await untilNoJob();
  const session = newest();
  cluster.query('scontrol', 'update', 'partitionname=test', 'state=down');
  try {
    const next = start('exec', '--on', 'slurm:test', '--yes', '.', '--', 'true');
    await expect
      .poll(next.output, { timeout: 2 * MINUTES })
      .toMatch(new RegExp(`session ${session} could not be collected: job \\d+ waits in the queue for 60 seconds`));
    await expect.poll(() => next.output().match(/Waiting in the queue/g)?.length, { timeout: MINUTES }).toBe(2);
    next.child.kill('SIGINT');
    expect(await next.ended).toBe(130);
    await untilEmptyQueue();
  } finally {
    cluster.query('scontrol', 'update', 'partitionname=test', 'state=up');
  }
  expect((await run('diff', '--stat', session)).output).toMatch(/created .*held\.txt/);
  await untilNoJob();
});

it('no probe gets through in a job', { timeout: 5 * MINUTES }, async () => {
  const { status, output } = await run('doctor', '--probe', '--on', 'slurm:test');
  expect(output).toContain('PASS: every attack that can be tested here was stopped.');
  expect(status).toBe(0);
});

it('refuses a lost layer that nobody named, and a session on a terminal', { timeout: MINUTES }, async () => {
  const config = path.join(root, '.config/run-claude/config.toml');
  const text = readFileSync(config, 'utf8');
  writeFileSync(config, text.replace('"gateway-network", ', ''));
  const { status, output } = await run('exec', '--on', 'slurm:test', '--yes', '.', '--', 'true');
  writeFileSync(config, text);
  expect([output, status]).toEqual([expect.stringContaining('--without-layer gateway-network'), 125]);
});

it('explores a session of a job, and lists the commits of its agent', { timeout: 5 * MINUTES }, async () => {
  const git = 'git -c user.name=a -c user.email=a@b.c';
  const as = ['--reuid', String(cluster.user.uid), '--regid', String(cluster.user.gid), '--clear-groups'];
  const made = spawnSync('setpriv', [...as, 'sh', '-c', `git init -q . && git add . && ${git} commit -qm one`], {
    cwd: project,
    env: { PATH: process.env['PATH'], HOME: root },
  });
  expect(made.status).toBe(0);
  const commit = `echo x > new.txt && git add . && ${git} commit -qm two`;
  await run('exec', '--on', 'slurm:test', '--yes', '.', '--', 'sh', '-c', commit);
  expect((await run('commits', newest())).output).toContain('a <a@b.c>  two');
  const explored = await run('explore', newest());
  expect([explored.output, explored.status]).toEqual([expect.stringContaining('without network'), 0]);
  await untilNoJob();
});
