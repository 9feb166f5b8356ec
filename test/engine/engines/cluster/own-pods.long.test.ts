import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { lostLayers } from '../../../../src/engines/capabilities/refuse.ts';
import { ClusterScene, canRunPods, execWords, ON, SECRET } from '../../../support/kubernetes/cluster-scene.ts';
import { skipUnless } from '../../../support/requirement.ts';

// Nodes without the wrapper: each container is a pod with a network, and policies of the cluster are its fence.

const MINUTES = 60_000;
const LOST = lostLayers('pods', [{ spec: { network: 'none' } }]).map(({ name }) => name);

let scene: ClusterScene;

beforeAll(async () => {
  if (!canRunPods) return;
  scene = await ClusterScene.start('own-pods', [
    'form = "pods"',
    `without-layer = ${JSON.stringify(LOST)}`,
    // The gateway reads these requests, with its own certificate.
    '[[allow]]',
    'host = "api.example.com"',
    'requests = ["GET /**"]',
  ]);
  await scene.startProvider(
    'echo by-claude > claude.txt; timeout 3 bash -c "exec 3<>/dev/tcp/9.9.9.10/8080" || echo "stopped $?" > direct.txt; grep -c BEGIN "$SSL_CERT_FILE" > certificates.txt',
  );
}, 10 * MINUTES);

afterAll(() => scene?.[Symbol.asyncDispose]());

beforeEach((context) => skipUnless(canRunPods, 'needs root, runc and the plugins of CNI', context));
afterEach(() => {
  if (scene !== undefined) scene.api.faults = {};
});

it('an agent reaches the provider through one port of the gateway, and nothing else; nothing has the credential', {
  timeout: 5 * MINUTES,
}, async () => {
  const { status, output } = await scene.run(...ON, '--yes', '-p', 'go');
  expect([output, status]).toEqual([expect.stringContaining('3 files created'), 120]);
  expect((await scene.run('apply', scene.newest(), '--yes')).status).toBe(0);
  expect(readFileSync(path.join(scene.project, 'claude.txt'), 'utf8')).toBe('by-claude\n');
  expect(readFileSync(path.join(scene.project, 'direct.txt'), 'utf8')).toBe('stopped 124\n');
  expect([...scene.api.received, ...scene.api.asked].filter((one) => one.includes(SECRET))).toEqual([]);
  const pods = scene.api.received.map((one) => JSON.parse(one)).filter(({ kind }) => kind === 'Pod');
  expect(new Set(pods.map(({ spec }) => spec.runtimeClassName))).toEqual(new Set([undefined]));
  // One more than the image has: the session's own, whose key no file of the node has.
  expect(Number(readFileSync(path.join(scene.project, 'certificates.txt'), 'utf8'))).toBeGreaterThan(50);
  const kept = execFileSync('sh', [
    '-c',
    'grep -rlF -e "$1" -e "PRIVATE KEY" "$2" || true',
    'sh',
    SECRET,
    scene.node.logs,
  ]);
  expect(kept.toString()).toBe('');
  const session = scene.newest();
  expect(scene.api.names('Pod')).toEqual([]);
  await scene.run('gc');
  expect(scene.api.claimsOf(session)).toEqual([]);
  expect(scene.api.names('NetworkPolicy').filter((name) => name.includes(session))).toEqual([]);
});

it('a cluster that enforces no policy is refused, with what answered', { timeout: 5 * MINUTES }, async () => {
  scene.api.faults = { policies: 'none' };
  const { status, output } = await scene.run(...ON, '--yes', '-p', 'go');
  expect([output, status]).toEqual([
    expect.stringMatching(/no policy stops pod .*: neighbour 10\.207\.0\.\d+ port 47801 answers/),
    125,
  ]);
  expect(scene.api.names('Pod')).toEqual([]);
});

it('a policy that is enforced late only takes longer, and the session is resumed on its claim', {
  timeout: 5 * MINUTES,
}, async () => {
  scene.api.faults = { policies: 4000 };
  const { status, output } = await scene.run('exec', ...ON, '--yes', '.', '--', 'sh', '-c', 'echo 1 > later.txt');
  expect([output, status]).toEqual([expect.stringContaining('1 file created'), 120]);
  // Another command has other pods, with another address and word.
  const again = await scene.run('resume', scene.newest(), '--', 'sh', '-c', 'cat later.txt > second.txt');
  expect([again.output, again.status]).toEqual([expect.stringContaining('2 files created'), 120]);
});

it('a command without a gateway runs in a closed pod', { timeout: 5 * MINUTES }, async () => {
  const { status, output } = await scene.run(...execWords('echo 1 > made.txt; ls /sys/class/net > nets.txt'));
  expect([output, status]).toEqual([expect.stringContaining('2 files created'), 120]);
});

it('each layer that such pods lack is refused until it is named', { timeout: MINUTES }, async () => {
  const one = await scene.configured(
    (text) => text.replace('"no-network",', ''),
    () => scene.run(...execWords('true')),
  );
  expect([one.output, one.status]).toEqual([expect.stringContaining('--without-layer no-network'), 125]);
});

it('a gateway that ends takes the session with it, and what was written is collected', {
  timeout: 5 * MINUTES,
}, async () => {
  const words = ['exec', ...ON, '--yes', '.', '--', 'sh', '-c', 'echo 1 > late.txt; echo WRITTEN; sleep 600'];
  const { ended, output } = scene.start(words);
  await expect.poll(output, { timeout: 2 * MINUTES }).toContain('WRITTEN');
  const gateway = scene.api.names('Pod').find((name) => name.includes('gateway')) ?? '';
  await scene.api.evict(gateway);
  expect([output(), await ended]).toEqual([expect.anything(), 124]);
  expect(output()).toContain('the gateway ended and could not be started again');
  expect((await scene.run('diff', '--stat', scene.newest())).output).toMatch(/created .*late\.txt/);
  expect(scene.api.names('Pod')).toEqual([]);
});

it('probes get through in the layers that the user gives up, and in no other', {
  timeout: 5 * MINUTES,
}, async () => {
  const { status, output } = await scene.run('doctor', '--probe', ...ON);
  expect([output, status]).toEqual([
    expect.stringMatching(/\d\d got through for want of a layer that you do without\.\nPASS: every other attack/),
    0,
  ]);
  const named = await scene.configured(
    (text) => text.replace('"no-network",', ''),
    () => scene.run('doctor', '--probe', ...ON),
  );
  expect([named.output, named.status]).toEqual([expect.stringContaining('FAIL: attacks got through network none.'), 1]);
});
