import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openInstance } from '../../../src/claude/instance.ts';
import { listInstances } from '../../../src/claude/instances.ts';
import { planGc, runGc } from '../../../src/session/gc.ts';

let top = '';
const at = (...parts: string[]): string => join(top, ...parts);
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'rc-gc-'));
  for (const name of ['here', 'gone', 'drive']) mkdirSync(at('work', name), { recursive: true });
});
afterEach(() => rmSync(top, { recursive: true }));

const options = (): Parameters<typeof runGc>[0] => ({
  places: { stateDir: at('state'), cacheDir: at('cache'), dataDir: at('data') },
  engine: undefined,
  nowMs: Date.now() + 40 * 86_400_000,
});

it('removes the data of a project that is gone, and of none that may come back', async () => {
  await openInstance(at('data'), at('work/here'));
  const gone = await openInstance(at('data'), at('work/gone'));
  const drive = await openInstance(at('data'), at('work/drive'));
  // As it was recorded while a drive was mounted there; now the directory is absent, and nothing is mounted.
  writeFileSync(join(drive.dir, 'mount-point'), `${at('work/drive')}\n`);
  rmSync(at('work/gone'), { recursive: true });
  rmSync(at('work/drive'), { recursive: true });
  mkdirSync(at('keep'));
  symlinkSync(at('keep'), join(gone.dir, 'link'));
  symlinkSync(at('keep'), at('data/projects/0123456789abcdef'));
  const foreign = at('data/projects/fedcba9876543210');
  mkdirSync(foreign);
  writeFileSync(join(foreign, 'project-root'), '/nowhere\n');
  const states = Object.fromEntries((await listInstances(at('data'))).map((one) => [one.root, one.state]));
  expect(states).toEqual({
    [at('work/here')]: 'present',
    [at('work/gone')]: 'gone',
    [at('work/drive')]: 'away',
    '/nowhere': 'foreign',
  });
  const planned = await planGc(options());
  expect(planned).toEqual([{ kind: 'instance', name: gone.dir, why: `its project ${at('work/gone')} is gone` }]);
  expect(existsSync(gone.dir)).toBe(true);
  expect(await runGc(options())).toEqual({ removed: planned, problems: [] });
  expect([existsSync(gone.dir), existsSync(drive.dir), existsSync(foreign), existsSync(at('keep'))]).toEqual([
    false,
    true,
    true,
    true,
  ]);
});

it('takes dealt-with sessions after 30 days, pending ones never', async () => {
  const old = '2020-01-01T00:00:00.000Z';
  const ids: string[] = [];
  const { reserveSession } = await import('../../../src/session/record.ts');
  for (const stage of ['pending', 'applied', 'discarded', 'running', 'collected', 'failed']) {
    const { id, dir } = reserveSession(at('state'), Date.now());
    ids.push(id);
    writeFileSync(
      join(dir, 'session.json'),
      JSON.stringify({
        version: 1,
        id,
        project: '/p',
        stage,
        started: old,
        updated: old,
        plan: { baseDir: '/b', image: 'i' },
      }),
    );
  }
  const names = (await planGc(options())).map((item) => item.name);
  expect(names.sort()).toEqual([ids[1], ids[2]].sort());
});
