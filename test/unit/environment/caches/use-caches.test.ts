import { mkdirSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Plan } from '../../../../src/core/types/plan.ts';
import type { Engine } from '../../../../src/core/types/runtime.ts';
import type { CacheName, MadeCache } from '../../../../src/core/types/setup/cache.ts';
import { useCaches } from '../../../../src/environment/caches/use-caches.ts';

const HOUR_MS = 3_600_000;

function sceneOf() {
  const root = mkdtempSync(path.join(tmpdir(), 'run-claude-use-caches-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const fill = (ecosystem: CacheName, paths: readonly string[]): MadeCache => {
    const dir = path.join(root, ecosystem);
    mkdirSync(path.join(dir, 'archives'), { recursive: true });
    writeFileSync(path.join(dir, 'filled.json'), JSON.stringify({ version: 1, ecosystem, paths }));
    return { ecosystem, address: 'a'.repeat(32), dir };
  };
  const user = `${process.getuid?.()}:${process.getgid?.()}`;
  const planWith = (caches: readonly MadeCache[], env = {}) =>
    ({ user, image: 'i', sessionId: 's', caches, env }) as Plan;
  return { fill, planWith };
}

const engine = { facts: { local: true, rootless: false, usernsRemap: false } } as Engine;

it('mounts each cache read-only, with its variables and the links in the home', async () => {
  const { fill, planWith } = sceneOf();
  const [maven, pip] = [fill('maven', ['org/a/1/a.jar']), fill('pip', [])];
  const { mounts, env, homeEntries } = await useCaches(engine, planWith([maven, pip]));
  expect(mounts).toEqual(
    [maven, pip].map(({ ecosystem, dir }) => ({
      kind: 'bind',
      source: path.join(dir, 'archives'),
      target: `/var/cache/run-claude/${ecosystem}`,
      readonly: true,
    })),
  );
  expect(env).toEqual({ PIP_FIND_LINKS: '/var/cache/run-claude/pip' });
  expect(homeEntries.map(({ path: at }) => at)).toEqual([
    '.m2',
    '.m2/repository',
    '.m2/repository/org',
    '.m2/repository/org/a',
    '.m2/repository/org/a/1',
    '.m2/repository/org/a/1/a.jar',
  ]);
  expect(homeEntries.at(-1)?.content).toEqual({ link: '/var/cache/run-claude/maven/org/a/1/a.jar' });
});

it('leaves out a cache that was removed since, and marks the others as used', async () => {
  const { fill, planWith } = sceneOf();
  const [removed, npm] = [fill('maven', ['a.jar']), fill('npm', [])];
  rmSync(removed.dir, { recursive: true });
  const old = new Date(Date.now() - HOUR_MS);
  utimesSync(path.join(npm.dir, 'filled.json'), old, old);
  const used = await useCaches(engine, planWith([removed, npm]));
  expect(used.mounts).toHaveLength(1);
  expect(used.homeEntries).toEqual([]);
  expect(Date.now() - statSync(path.join(npm.dir, 'filled.json')).mtimeMs).toBeLessThan(HOUR_MS / 2);
});

it('keeps the variables of the plan', async () => {
  const { fill, planWith } = sceneOf();
  const plan = planWith([fill('pip', [])], { PIP_FIND_LINKS: '/own' });
  expect((await useCaches(engine, plan)).env).toEqual({});
});
