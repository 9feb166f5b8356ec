import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { strategyCheck } from '../../../../src/cli/doctor/strategy-check.ts';
import type { EngineFacts } from '../../../../src/core/types/engine.ts';
import type { Engine } from '../../../../src/core/types/runtime.ts';

const HERE = {
  kind: 'docker',
  endpoint: 'unix:///sock',
  version: '28',
  kernel: '6.1',
  local: true,
  usernsRemap: false,
  rootless: false,
};
const TRIED = { key: 'unix:///sock 28 6.1 image:1 501:20', trial: { works: true, why: '' } };
const FAILED = { works: false, why: 'files look wrong through an overlay volume here' };

it.each<[string, Partial<EngineFacts>, object | undefined, string, RegExp]>([
  ['nothing was tried', {}, undefined, 'ok', /^layers: the first session tests whether/],
  ['a session found that it works', {}, TRIED, 'ok', /^layers: overlay volumes work here$/],
  ['it was found with another image', {}, { ...TRIED, key: 'other' }, 'ok', /^layers: the first session/],
  ['it does not work', {}, { ...TRIED, trial: FAILED }, 'warning', /^copy: files look wrong through/],
  ['the engine is elsewhere', { local: false }, undefined, 'ok', /^volume: the engine does not run on this kernel$/],
  ['the engine remaps users', { usernsRemap: true }, undefined, 'ok', /^volume: the engine remaps users$/],
])('doctor names the strategy and the reason where %s', (_, facts, found, result, text) => {
  const stateDir = mkdtempSync(path.join(tmpdir(), 'run-claude-doctor-'));
  try {
    if (found !== undefined) writeFileSync(path.join(stateDir, 'overlay-trial.json'), JSON.stringify(found));
    const engine = { facts: { ...HERE, ...facts } } as Engine;
    const check = strategyCheck(engine, 'image:1', { uid: 501, gid: 20, spareId: 61_100, stateDir });
    expect(check).toMatchObject({ name: 'strategy', result, text: expect.stringMatching(text) });
    expect(check.wayOut === undefined).toBe(result === 'ok');
  } finally {
    rmSync(stateDir, { recursive: true });
  }
});
