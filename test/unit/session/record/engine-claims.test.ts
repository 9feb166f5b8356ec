import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { processIdentity } from '../../../../src/core/host/processes/process.ts';
import { makePrivateDir, writeJsonAtomic } from '../../../../src/core/store/record.ts';
import { claimEngine, claimsDir, engineUse } from '../../../../src/session/record/engine-claims.ts';

let stateDir: string;
beforeEach(() => {
  stateDir = mkdtempSync(path.join(tmpdir(), 'rc-claims-'));
});
afterEach(() => rmSync(stateDir, { recursive: true }));

const use = (name: string) => engineUse(stateDir, ({ plan }) => plan.engine.on)(name);

it('a claim counts as a session until it is removed', () => {
  expect(use('big')).toEqual({ sessions: 0, memoryMb: 0, ids: [] });
  const release = claimEngine(stateDir, 'big', 4096);
  expect(use('big')).toEqual({ sessions: 1, memoryMb: 4096, ids: [] });
  expect(use('small')).toEqual({ sessions: 0, memoryMb: 0, ids: [] });
  release();
  expect(use('big').sessions).toBe(0);
});

it('the claim of a process that has ended does not count, and is removed; one that cannot be read does not count', async () => {
  const child = spawn('true');
  await once(child, 'close');
  makePrivateDir(claimsDir(stateDir));
  const holder = { ...processIdentity(), pid: child.pid ?? 0 };
  writeJsonAtomic(path.join(claimsDir(stateDir), `${child.pid}.json`), { version: 1, on: 'big', memoryMb: 1, holder });
  writeFileSync(path.join(claimsDir(stateDir), '1.json'), '{');
  expect(use('big').sessions).toBe(0);
  expect(readdirSync(claimsDir(stateDir))).toEqual(['1.json']);
});
