import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { EVERYTHING } from '../../../../src/core/text/selection.ts';
import type { Engine } from '../../../../src/core/types/engine.ts';
import type { SessionEvent } from '../../../../src/core/types/event.ts';
import type { Plan } from '../../../../src/core/types/plan.ts';
import { fillCaches } from '../../../../src/environment/caches/fill-caches.ts';

const LOCK = {
  lockfileVersion: 3,
  packages: {
    'node_modules/a': {
      version: '1.0.0',
      resolved: 'https://registry.npmjs.org/a/-/a-1.0.0.tgz',
      integrity: `sha512-${'A'.repeat(86)}==`,
    },
  },
};

it('leaves out a cache whose directory cannot be written, with one warning', async () => {
  const root = mkdtempSync(path.join(tmpdir(), 'run-claude-fill-caches-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const project = path.join(root, 'project');
  mkdirSync(project);
  writeFileSync(path.join(project, 'package-lock.json'), JSON.stringify(LOCK));
  writeFileSync(path.join(root, 'file'), '');
  const events: SessionEvent[] = [];
  const policy = { caches: ['npm'], network: 'gateway', exclude: [], include: [], mask: [] };
  const plan = { policy, project: { root: project, startIn: '' }, image: 'i', user: '1000:1000' } as unknown as Plan;
  const made = await fillCaches(plan, {
    engine: { facts: { local: true } } as Engine,
    cacheDir: path.join(root, 'file'),
    selection: EVERYTHING,
    tell: (event) => events.push(event),
    env: {},
    signal: new AbortController().signal,
  });
  expect(made).toEqual([]);
  expect(events).toEqual([
    {
      kind: 'message',
      level: 'warning',
      text: expect.stringMatching(/^the npm cache was not filled: ENOTDIR.*the session starts without this cache\.$/),
    },
  ]);
});
