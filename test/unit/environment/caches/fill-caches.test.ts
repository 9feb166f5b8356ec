import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { EVERYTHING } from '../../../../src/core/text/selection.ts';
import type { SessionEvent, Tell } from '../../../../src/core/types/event.ts';
import type { Plan } from '../../../../src/core/types/plan.ts';
import { addressCaches } from '../../../../src/environment/caches/fill/fill-caches.ts';

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

it('leaves out a cache whose directory cannot be written, with one warning', () => {
  const root = mkdtempSync(path.join(tmpdir(), 'run-claude-fill-caches-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const project = path.join(root, 'project');
  mkdirSync(project);
  writeFileSync(path.join(project, 'package-lock.json'), JSON.stringify(LOCK));
  writeFileSync(path.join(root, 'file'), '');
  const events: SessionEvent[] = [];
  const policy = { caches: ['npm'], network: 'gateway', exclude: [], include: [], mask: [] };
  const plan = { policy, project: { root: project, startIn: '' }, image: 'i', user: '1000:1000' } as unknown as Plan;
  const cacheDir = path.join(root, 'file');
  const tell: Tell = (event) => void events.push(event);
  expect(addressCaches(plan, { selection: EVERYTHING, cacheDir, isShownOnly: false, tell })).toEqual([]);
  expect(events).toEqual([
    {
      kind: 'message',
      level: 'warning',
      text: expect.stringMatching(/^the npm cache was not filled: ENOTDIR.*the session starts without this cache\.$/),
    },
  ]);
});

it('addresses a cache for a plan that is only shown once a session made the part of the address, and writes nothing', () => {
  const root = mkdtempSync(path.join(tmpdir(), 'run-claude-fill-caches-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  writeFileSync(path.join(root, 'package-lock.json'), JSON.stringify(LOCK));
  const policy = { caches: ['npm'] };
  const plan = { policy, project: { root, startIn: '' }, image: 'i', user: '1000:1000' } as unknown as Plan;
  const cacheDir = path.join(root, 'cache');
  const addresses = (isShownOnly: boolean): readonly string[] =>
    addressCaches(plan, { selection: EVERYTHING, cacheDir, isShownOnly, tell: () => undefined }).map(
      ({ cache }) => cache.address,
    );
  expect(addresses(true)).toEqual([]);
  expect(existsSync(cacheDir)).toBe(false);
  const [address] = addresses(false);
  expect(address).toMatch(/^[0-9a-f]{32}$/);
  expect(addresses(true)).toEqual([address]);
});
