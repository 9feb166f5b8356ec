import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Engine } from '../../../../src/core/types/runtime.ts';
import { openVolume, type Place } from '../../../../src/engines/engine/place.ts';
import { keepVolume } from '../../../../src/session/stage/home/keep-home.ts';
import { connectForTest } from '../../../support/engine.ts';
import { testImage } from '../../../support/image.ts';

let engine: Engine;
let image: string;
let place: Place;
let dir: string;
const sessionId = `test-${process.pid}-keep`;

beforeAll(async () => {
  engine = await connectForTest();
  image = await testImage(engine);
});
afterAll(() => engine.close());
beforeEach(async () => {
  dir = mkdtempSync(path.join(tmpdir(), 'run-claude-keep-'));
  const owner = { uid: 1000, gid: 1000 };
  place = await openVolume(engine, { name: `run-claude-${sessionId}-home`, dir, owner, image, sessionId });
  await place.fill([
    { path: 'secret', mode: 0o600, content: Buffer.from('closed to others') },
    { path: 'large', mode: 0o644, content: Buffer.alloc(2 << 20, 1) },
  ]);
});
afterEach(async () => {
  await place.remove();
  rmSync(dir, { recursive: true });
});

it('keeps the content of a volume as one tar, and never writes it twice', async () => {
  const file = path.join(dir, 'made', 'home.tar');
  await keepVolume(engine, { sessionId, image, diskMb: 100 }, place.mount, file);
  expect(execFileSync('tar', ['-xOf', file, './secret'], { encoding: 'utf8' })).toBe('closed to others');
  expect(execFileSync('tar', ['-tvf', file], { encoding: 'utf8' })).toMatch(/^-rw------- 1000\/1000 .* \.\/secret$/m);
  await place.fill([{ path: 'later', mode: 0o600, content: Buffer.from('later') }]);
  await keepVolume(engine, { sessionId, image, diskMb: 100 }, place.mount, file);
  expect(execFileSync('tar', ['-tf', file], { encoding: 'utf8' })).not.toContain('later');
});

it('does not keep a home above the session’s disk limit, and leaves no part of it', async () => {
  const file = path.join(dir, 'home.tar');
  const keeping = keepVolume(engine, { sessionId, image, diskMb: 1 }, place.mount, file);
  await expect(keeping).rejects.toMatchObject({ code: 'TMPDIR_NOT_KEPT' });
  expect(existsSync(file)).toBe(false);
  expect(readdirSync(dir)).toEqual([]);
});
