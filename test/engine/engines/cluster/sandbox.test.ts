import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { ClusterScene, canRunPods, execWords } from '../../../support/kubernetes/cluster-scene.ts';
import { skipUnless } from '../../../support/requirement.ts';

// The agent's pod in a Sandbox, whose controller is a stand-in: it makes the pod, and makes a deleted one again.

const MINUTES = 60_000;

let scene: ClusterScene;

beforeAll(async () => {
  if (!canRunPods) return;
  scene = await ClusterScene.start('sandbox', ['form = "sandbox"', 'without-layer = ["no-log", "no-restart"]']);
}, 10 * MINUTES);

afterAll(() => scene?.[Symbol.asyncDispose]());

beforeEach((context) => skipUnless(canRunPods, 'needs root, runc and the plugins of CNI', context));
afterEach(() => {
  if (scene !== undefined) scene.api.faults = {};
});

it('an agent runs in a Sandbox of its name, and both are removed afterwards', { timeout: 5 * MINUTES }, async () => {
  const { status, output } = await scene.run(...execWords('echo 1 > made.txt'));
  expect([output, status]).toEqual([expect.stringContaining('1 file created'), 120]);
  const kinds = scene.api.received.map((one) => JSON.parse(one).kind);
  expect(kinds.filter((kind) => kind === 'Sandbox')).toHaveLength(1);
  expect([scene.api.names('Sandbox'), scene.api.names('Pod')]).toEqual([[], []]);
});

it('a Sandbox whose command was killed is removed by the next one, also without the form', {
  timeout: 5 * MINUTES,
}, async () => {
  const { child, ended, output } = scene.start(execWords('echo 1 > lost.txt; echo WRITTEN; sleep 600'));
  await expect.poll(output, { timeout: 2 * MINUTES }).toContain('WRITTEN');
  const pod = scene.agentPod();
  child.kill('SIGKILL');
  await ended;
  await expect.poll(() => scene.api.phase(pod), { timeout: MINUTES, interval: 500 }).toBe('Failed');
  expect(scene.api.names('Sandbox')).toEqual([pod]);
  const stat = await scene.configured(
    (text) => text.replace('form = "sandbox"', ''),
    () => scene.run('diff', '--stat', scene.newest()),
  );
  expect(stat.output).toMatch(/created .*lost\.txt/);
  expect([scene.api.names('Sandbox'), scene.api.names('Pod')]).toEqual([[], []]);
});

it('a cluster without Sandboxes is named', { timeout: 2 * MINUTES }, async () => {
  scene.api.faults = { sandboxes: 'unknown' };
  const { status, output } = await scene.run(...execWords('true'));
  expect([output, status]).toEqual([
    expect.stringContaining('the cluster has no Sandbox of agents.x-k8s.io/v1beta1'),
    125,
  ]);
  expect(scene.api.names('Pod')).toEqual([]);
});

it('a Sandbox whose pod nobody makes ends with Ctrl-C, and is removed', { timeout: 2 * MINUTES }, async () => {
  scene.api.faults = { sandboxes: 'not made' };
  const { child, ended } = scene.start(execWords('true'));
  await expect.poll(() => scene.api.names('Sandbox'), { timeout: MINUTES }).toHaveLength(1);
  child.kill('SIGINT');
  expect(await ended).toBe(130);
  expect(scene.api.names('Sandbox')).toEqual([]);
});
