import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { processorTimeMs } from '../../../../src/core/host/processes/processor-time.ts';
import { Scene } from '../../../support/scene.ts';
import { waitForOutput } from '../../../support/sees.ts';

/** Files that once ended run-claude: by a depth that a parser cannot bear, and by a number of keys. */
const HOSTILE = `
  echo good > good.txt
  printf -- '- %.0s' $(seq 1 2000) > compose.yml
  (printf '{'; seq -f '"k%.0f": 1,' 1 190000; printf '"z": 1}') > package.json`;

function hostileScene(): Scene {
  const scene = new Scene();
  scene.write('compose.yml', 'a: 1\n');
  scene.write('package.json', '{"name": "sample"}\n');
  return scene;
}

const START = ['exec', '--network', 'none', '--credentials', 'none'];

it('content that no parser bears is held back alone, and every later command works', async () => {
  await using scene = hostileScene();
  const text = (name: string): string => readFileSync(path.join(scene.project, name), 'utf8');
  const session = await scene.run([...START, '--auto-apply', scene.project, '--', 'sh', '-c', HOSTILE]);
  expect([session.status, session.stderr]).toEqual([121, expect.stringContaining('too much to judge')]);
  expect([text('good.txt'), text('compose.yml')]).toEqual(['good\n', 'a: 1\n']);

  const later = [['status'], ['sessions'], ['diff', '--stat'], ['apply', '--yes'], ['undo', '--yes'], ['gc']];
  const statuses: [string, number][] = [];
  for (const words of later) statuses.push([words.join(' '), (await scene.run(words)).status]);
  expect(statuses).toEqual([
    ['status', 0],
    ['sessions', 0],
    ['diff --stat', 0],
    ['apply --yes', 121],
    ['undo --yes', 0],
    ['gc', 0],
  ]);
  expect((await scene.run([...START, scene.project, '--', 'true'])).status).toBe(0);
  expect((await scene.run(['discard', '--yes'])).status).toBe(0);
});

it('a session that was cut off is not audited before a command needs it', async () => {
  await using scene = hostileScene();
  const child = scene.spawn([...START, scene.project, '--', 'sh', '-c', `${HOSTILE}; echo ready; sleep 600`]);
  const gone = new Promise((resolve) => child.once('close', resolve));
  await waitForOutput(child, 'ready');
  child.kill('SIGKILL');
  await gone;

  const next = await scene.run([...START, scene.project, '--', 'true']);
  expect([next.status, next.stderr]).toEqual([0, expect.stringContaining('not audited yet')]);
  const [, cut] = JSON.parse((await scene.run(['sessions', '--all', '--json'])).stdout);
  expect(cut).toMatchObject({ state: 'not-audited-yet', findings: { blocked: 0, suspect: 0 } });
  const status = await scene.run(['status', cut.id]);
  expect(status.stdout).toContain('The changes are not audited yet');
  expect(status.stderr).not.toContain('Auditing');

  const applied = await scene.run(['apply', '--yes', cut.id]);
  expect(applied.stderr).toContain('Auditing the changes');
  expect([applied.status, applied.stderr]).toEqual([121, expect.stringContaining('Applied 1 of 3')]);
  expect(existsSync(path.join(scene.project, 'good.txt'))).toBe(true);
  const again = await scene.run(['diff', '--stat', cut.id]);
  expect([again.status, again.stderr]).toEqual([0, expect.not.stringContaining('Auditing')]);
  expect((await scene.run(['discard', '--yes', cut.id])).status).toBe(0);
});

/** Each is just within the budget, and all of them together take minutes. */
const LARGE = `
  mkdir dirs; cd dirs
  seq -f 'key%.0f: value' 1 15000 > large
  for i in $(seq 1 400); do mkdir $i; (echo "first: $i"; cat large) > $i/compose.yml; done
  rm large`;

it('Ctrl-C during the audit ends the session at once; its changes are not audited yet', async () => {
  await using scene = new Scene();
  const child = scene.spawn([...START, scene.project, '--', 'sh', '-c', LARGE]);
  let told = '';
  child.stderr?.setEncoding('utf8').on('data', (piece: string) => {
    told += piece;
  });
  const gone = new Promise((resolve) => child.once('close', resolve));
  const judgesOf = (): string[] =>
    childrenOf(child.pid as number).filter((pid) => commandOf(pid).includes('judge-worker') && isBusy(pid));
  await expect.poll(() => judgesOf().length, { timeout: 120_000 }).toBe(1);
  const [judge = ''] = judgesOf();
  child.kill('SIGINT');
  await expect.poll(() => existsSync(`/proc/${judge}`), { timeout: 5000 }).toBe(false);
  expect([await gone, told]).toEqual([130, expect.stringContaining('are not audited yet')]);
  const [session] = JSON.parse((await scene.run(['sessions', '--json'])).stdout);
  expect(session).toMatchObject({ state: 'not-audited-yet' });
  expect((await scene.run(['discard', '--yes'])).status).toBe(0);
});

const childrenOf = (pid: number): string[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
const commandOf = (pid: string): string => readFileSync(`/proc/${pid}/cmdline`, 'utf8');
/** Whether it has worked for more than two seconds: the base is read and the audit has begun. */
const isBusy = (pid: string): boolean => (processorTimeMs(Number(pid)) ?? 0) > 2000;
