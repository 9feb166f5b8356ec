import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { readSeccompProfile } from '../../../src/engine/hardening/seccomp.ts';
import { listSessions } from '../../../src/record/session.ts';
import { connectForTest } from '../../support/engine.ts';
import { testImage } from '../../support/image.ts';
import { ApiServer } from '../../support/kubernetes/api-server.ts';
import { Containerd } from '../../support/kubernetes/containerd.ts';
import { Node } from '../../support/kubernetes/node.ts';
import { skipUnless } from '../../support/requirement.ts';
import { mainJs } from '../../support/scene.ts';

const RUNC = ['/usr/sbin/runc', '/usr/bin/runc'].find((file) => existsSync(file));
const isAble = process.getuid?.() === 0 && RUNC !== undefined && existsSync('/usr/lib/cni/bridge');
const WRAPPER = path.resolve(import.meta.dirname, '../../../deploy/kubernetes/wrapper.c');
const STAND_IN = path.resolve(import.meta.dirname, '../../support/stand-in/messages-api.mjs');
const REFERENCE = `registry.test/run-claude@sha256:${'a'.repeat(64)}`;
const IMAGE = 'run-claude.test/session:1';
const SECRET = 'sk-ant-api03-of-the-stand-in-for-kubernetes';
const MINUTES = 60_000;
const PORT = 8080;
/** Looks public, and exists in the network of the pods alone: what the gateway sends to a private one passes its output. */
const PROVIDER = '9.9.9.10';

let containerd: Containerd;
let node: Node;
let api: ApiServer;
let root: string;
let project: string;
const children: { kill(signal: 'SIGKILL'): boolean }[] = [];

beforeAll(async () => {
  if (!isAble) return;
  const engine = await connectForTest('cluster');
  const image = await testImage(engine);
  await engine.close();
  containerd = await Containerd.start(RUNC ?? '', WRAPPER);
  containerd.importImage(IMAGE, layerOf(image, containerd.dir), '/bin/true');
  node = new Node(containerd, await readSeccompProfile(), new Map([[REFERENCE, IMAGE]]));
  api = await ApiServer.start(node);
  root = mkdtempSync(path.join(tmpdir(), 'rc-cluster-user-'));
  project = path.join(root, 'project');
  const config = path.join(root, '.config/run-claude');
  mkdirSync(config, { recursive: true });
  mkdirSync(project);
  writeFileSync(
    path.join(config, 'config.toml'),
    `[kubernetes]\nimage = "${REFERENCE}"\npatience = 15\nwithout-layer = ["no-log"]\n`,
  );
  writeFileSync(path.join(project, 'a.txt'), 'hello\n');
}, 10 * MINUTES);

afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await api?.[Symbol.asyncDispose]();
  await containerd?.[Symbol.asyncDispose]();
  if (root !== undefined) rmSync(root, { recursive: true, force: true });
});

beforeEach((context) => skipUnless(isAble, 'needs root, runc and the plugins of CNI', context));
afterEach(() => {
  if (api !== undefined) api.faults = {};
});

/** The image's root as one layer. */
function layerOf(image: string, dir: string): string {
  const [rootfs, layer] = [path.join(dir, 'rootfs'), path.join(dir, 'layer.tar')];
  mkdirSync(rootfs);
  const id = execFileSync('docker', ['create', '--network', 'none', image, 'true'], { encoding: 'utf8' }).trim();
  try {
    const excluded = ['usr/share', 'usr/lib/python3*'].map((name) => `--exclude=${name}`);
    const script = 'id=$1 dir=$2; shift 2; docker export "$id" | tar -x -p -C "$dir" "$@"';
    execFileSync('bash', ['-o', 'pipefail', '-c', script, 'unpack', id, rootfs, ...excluded]);
    execFileSync('tar', ['-c', '-C', rootfs, '-f', layer, '.']);
  } finally {
    execFileSync('docker', ['rm', id]);
    rmSync(rootfs, { recursive: true });
  }
  return layer;
}

function start(...words: readonly string[]) {
  return startWith({}, ...words);
}

function startWith(env: Readonly<Record<string, string>>, ...words: readonly string[]) {
  const child = spawn(process.execPath, [mainJs, ...words], {
    cwd: project,
    env: {
      PATH: process.env['PATH'],
      HOME: root,
      LANG: 'C.UTF-8',
      KUBECONFIG: api.kubeconfig,
      ANTHROPIC_BASE_URL: `http://${PROVIDER}:${PORT}`,
      ANTHROPIC_API_KEY: SECRET,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString('utf8');
    });
  const ended = new Promise<number | null>((resolve) => {
    child.on('close', resolve);
  });
  return { child, ended, output: () => output };
}

async function run(...words: readonly string[]): Promise<{ readonly status: number | null; readonly output: string }> {
  const { ended, output } = start(...words);
  return { status: await ended, output: output() };
}

const ON = ['--on', 'k8s:test'];
const exec = (script: string): string[] => ['exec', ...ON, '--network', 'none', '--yes', '.', '--', 'sh', '-c', script];
const newest = (): string => listSessions(path.join(root, '.local/state/run-claude')).sessions[0]?.id ?? '';

/** A session whose agent has written `name` and waits. */
async function startWaiting(name: string) {
  const started = start(...exec(`echo 1 > ${name}; rm -f a.txt; echo WRITTEN; sleep 600`));
  await expect.poll(started.output, { timeout: 2 * MINUTES }).toContain('WRITTEN');
  return started;
}

it('a command runs in a pod, and its changes stay pending here', { timeout: 5 * MINUTES }, async () => {
  const { status, output } = await run(...exec('echo by-agent > made.txt; id -u'));
  expect([output, status]).toEqual([expect.stringContaining('1 file created'), 120]);
  expect(api.names('Pod')).toEqual([]);
  expect((await run('apply', newest(), '--yes')).status).toBe(0);
  expect(readFileSync(path.join(project, 'made.txt'), 'utf8')).toBe('by-agent\n');
});

/** The provider, in the network of the pods. */
async function startProvider(): Promise<void> {
  const net = `--net=/proc/${containerd.pid}/ns/net`;
  execFileSync('nsenter', [net, 'ip', 'address', 'add', `${PROVIDER}/32`, 'dev', 'lo']);
  const program = `import { startMessagesApi } from ${JSON.stringify(pathToFileURL(STAND_IN).href)};
    await startMessagesApi({ host: '${PROVIDER}', port: ${PORT}, turns: [], turnFor: (body) =>
      JSON.stringify(body).includes('"role":"assistant"') ? { text: 'Done.' }
        : { tools: [{ name: 'Bash', input: { command: 'echo by-claude > claude.txt' } }] } });
    console.log('ready');`;
  const words = [net, process.execPath, '--input-type=module', '-e', program];
  const provider = spawn('nsenter', words, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(provider);
  await new Promise((resolve) => provider.stdout.once('data', resolve));
}

it('an agent works in a pod; no object and no file of the node has the credential', {
  timeout: 5 * MINUTES,
}, async () => {
  await startProvider();
  const { status, output } = await run(...ON, '--yes', '-p', 'go');
  expect([output, status]).toEqual([expect.stringContaining('1 file created'), 120]);
  expect(api.received.length).toBeGreaterThan(5);
  expect([...api.received, ...api.asked].filter((one) => one.includes(SECRET))).toEqual([]);
  const found = execFileSync('sh', ['-c', 'grep -rlF -- "$1" "$2" || true', 'sh', SECRET, node.logs], {
    encoding: 'utf8',
  });
  expect(found).toBe('');
  // What passes this machine is encoded there: nothing of it may be in the log either.
  const relayed = execFileSync('sh', ['-c', 'grep -rl relay-data "$1" || true', 'sh', node.logs], { encoding: 'utf8' });
  expect(relayed).toBe('');
  const pods = api.received.map((one) => JSON.parse(one)).filter(({ kind }) => kind === 'Pod');
  expect(new Set(pods.map(({ spec }) => spec.automountServiceAccountToken))).toEqual(new Set([false]));
  expect((await run('apply', newest(), '--yes')).status).toBe(0);
  expect(readFileSync(path.join(project, 'claude.txt'), 'utf8')).toBe('by-claude\n');
  const session = newest();
  expect(api.claimsOf(session)).toHaveLength(1);
  const { output: removed } = await run('gc');
  expect(removed).toContain(`layer ${session}`);
  expect([api.names('Pod'), api.claimsOf(session)]).toEqual([[], []]);
  expect(api.names('NetworkPolicy').filter((name) => name.includes(session))).toEqual([]);
});

it('a provider that only this machine reaches is refused: the node would log its requests', {
  timeout: MINUTES,
}, async () => {
  const { ended, output } = startWith({ ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' }, ...ON, '--yes', '-p', 'go');
  expect([await ended, output()]).toEqual([2, expect.stringContaining('a provider that only this machine reaches')]);
});

it('no probe gets through in a pod', { timeout: 5 * MINUTES }, async () => {
  const { status, output } = await run('doctor', '--probe', ...ON);
  expect(output).toContain('PASS: every attack that can be tested here was stopped.');
  expect(status).toBe(0);
  expect(api.names('Pod')).toEqual([]);
});

it('an evicted pod ends the session, which says so, and what it wrote is collected', {
  timeout: 5 * MINUTES,
}, async () => {
  const { ended, output } = await startWaiting('evicted.txt');
  await api.evict(agentPod());
  expect([output(), await ended]).toEqual([expect.anything(), 125]);
  expect(output()).toContain('Evicted: The node was low on resource: memory.');
  const { output: stat } = await run('diff', '--stat', newest());
  expect(stat).toMatch(/created .*evicted\.txt/);
  expect(stat).toMatch(/deleted .*a\.txt/);
});

/** The pod of the newest session's agent. */
function agentPod(): string {
  const id = newest();
  return api.names('Pod').find((name) => new RegExp(`^run-claude-${id}-[0-9a-f]{8}$`).test(name)) ?? '';
}

it('a pod whose command was killed ends by itself, and a later command collects it', {
  timeout: 5 * MINUTES,
}, async () => {
  const { child, ended } = await startWaiting('lost.txt');
  const pod = agentPod();
  child.kill('SIGKILL');
  await ended;
  await expect.poll(() => api.phase(pod), { timeout: MINUTES, interval: 500 }).toBe('Failed');
  expect((await run('diff', '--stat', newest())).output).toMatch(/created .*lost\.txt/);
  expect(api.names('Pod')).toEqual([]);
});

it('a connection that is cut ends the session, which says so', { timeout: 5 * MINUTES }, async () => {
  const { ended, output } = await startWaiting('cut.txt');
  api.cut();
  expect(await ended).toBe(125);
  expect(output()).toMatch(/the connection to pod .* was lost|ended/);
  expect((await run('diff', '--stat', newest())).output).toMatch(/created .*cut\.txt/);
});

it('a pod that no node takes says why, and Ctrl-C removes what was made', { timeout: 5 * MINUTES }, async () => {
  api.faults = { unschedulable: '0/3 nodes are available: 3 Insufficient memory.' };
  const { child, ended, output } = start(...exec('true'));
  await expect.poll(output, { timeout: MINUTES }).toContain('0/3 nodes are available: 3 Insufficient memory.');
  child.kill('SIGINT');
  expect(await ended).toBe(130);
  expect([api.names('Pod'), api.claimsOf(newest())]).toEqual([[], []]);
});

it('an image that cannot be pulled, a right that is missing, and a server that is down, each say so', {
  timeout: 5 * MINUTES,
}, async () => {
  const config = path.join(root, '.config/run-claude/config.toml');
  const text = readFileSync(config, 'utf8');
  writeFileSync(config, text.replace('registry.test', 'other.test'));
  const pull = await run(...exec('true'));
  writeFileSync(config, text);
  expect([pull.output, pull.status]).toEqual([expect.stringContaining('the node cannot pull other.test'), 125]);
  api.faults = {
    refuse: (method, url) =>
      method === 'POST' && url.includes('/pods')
        ? { status: 403, message: 'pods is forbidden: User "u" cannot create \u001b[31mresource "pods"' }
        : undefined,
  };
  const forbidden = await run(...exec('true'));
  expect(forbidden.output).toContain('refused (403): pods is forbidden: User "u" cannot create  [31mresource');
  expect(forbidden.status).toBe(125);
  api.faults = { isDown: true };
  const down = await run(...exec('true'));
  expect([down.output, down.status]).toEqual([expect.stringContaining('does not answer'), 125]);
});

it('a session is resumed on its claim, and a slow server only takes longer', { timeout: 5 * MINUTES }, async () => {
  api.faults = { delayMs: 200 };
  const first = await run(...exec('echo 1 > resumed.txt'));
  expect([first.output, first.status]).toEqual([expect.stringContaining('1 file created'), 120]);
  const { output } = await run('resume', newest(), '--', 'sh', '-c', 'cat resumed.txt > second.txt');
  expect(output).toContain('2 files created');
});

it('a node that lies about its image is refused, and its words act on no terminal', { timeout: MINUTES }, async () => {
  const other = `registry.test/other@sha256:${'b'.repeat(64)}`;
  api.faults = { lie: (status) => JSON.parse(JSON.stringify(status).replaceAll(REFERENCE, other)) };
  const image = await run(...exec('true'));
  expect([image.output, image.status]).toEqual([expect.stringContaining('runs another image'), 125]);
  api.faults = { lie: () => ({ phase: 'Failed', reason: '\u001b]0;x\u0007', message: 'y'.repeat(100_000) }) };
  const words = await run(...exec('true'));
  expect(words.output).toContain('ended before its program started');
  expect([words.output.includes('\u001b]0'), words.output.length < 5000, words.status]).toEqual([false, true, 125]);
});

it('a server that knows only the older protocol takes the same session', { timeout: 2 * MINUTES }, async () => {
  const known = api.protocols;
  api.protocols = ['v4.channel.k8s.io'];
  const { output } = await run(...exec('echo 1 > v4.txt'));
  api.protocols = known;
  expect(output).toContain('1 file created');
});

it('refuses a lost layer that nobody named, and options that a pod does not carry', { timeout: MINUTES }, async () => {
  const config = path.join(root, '.config/run-claude/config.toml');
  const text = readFileSync(config, 'utf8');
  writeFileSync(config, text.replace('["no-log"]', '[]'));
  const lost = await run(...exec('true'));
  writeFileSync(config, text);
  expect([lost.output, lost.status]).toEqual([expect.stringContaining('--without-layer no-log'), 125]);
  const port = await run('exec', ...ON, '--port', '3000', '--yes', '.', '--', 'true');
  expect([port.output, port.status]).toEqual([expect.stringContaining('does not carry: --port'), 2]);
});
