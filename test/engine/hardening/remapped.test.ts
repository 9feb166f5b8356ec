import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Scene } from '../../support/scene.ts';
import { SecondEngine } from '../../support/second-engine.ts';

const engine = new SecondEngine({ remapped: true });
let scene: Scene;

beforeAll(async () => {
  await engine.start();
  await engine.bringImage();
  scene = new Scene({ env: { DOCKER_HOST: engine.host } });
});

afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  await engine[Symbol.asyncDispose]();
});

it('where the engine remaps users no attack of the probes succeeds, and doctor lists the layers', async () => {
  const probed = await scene.run(['doctor', '--probe', '--json']);
  const rows = JSON.parse(probed.stdout) as { name: string; layer: string; result: string }[];
  expect(rows.filter((row) => row.result === 'open')).toEqual([]);
  expect(rows.filter((row) => row.result === 'stopped').length).toBeGreaterThan(280);
  expect(new Set(rows.filter((row) => row.result === 'stopped').map((row) => row.layer)).size).toBe(16);
  expect(probed.status).toBe(0);
  expect((await scene.run(['doctor'])).stdout).toMatch(
    /Protection +all layers hold; root in the container is a user without rights/,
  );
});

it('a session uses volumes of the engine, and applied files belong to the user', async () => {
  const script = 'cat /proc/self/uid_map; echo made > made.txt; rm src/file3.txt; git add -A && git status --short';
  const session = await scene.run(['exec', '--yes', '--auto-apply', scene.project, '--', 'sh', '-c', script]);
  expect([session.status, session.stderr]).toEqual([0, expect.stringContaining('a copy (volume)')]);
  expect(session.stdout).toMatch(/^ +0 +100000 +65536\n/);
  expect(session.stdout).toContain('A  made.txt\nD  src/file3.txt\n');
  expect(scene.git('status', '--short')).toBe(' D src/file3.txt\n?? made.txt\n');
  const made = path.join(scene.project, 'made.txt');
  expect([readFileSync(made, 'utf8'), statSync(made).uid]).toEqual(['made\n', process.getuid?.()]);
});

it('bind mode is refused with the reason where the engine remaps users', async () => {
  const refused = await scene.run(['exec', '--bind', scene.project, '--', 'true']);
  expect([refused.status, refused.stderr]).toEqual([125, expect.stringContaining('remaps users')]);
});
