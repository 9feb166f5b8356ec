import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Engine } from '../../src/core/types/runtime.ts';
import { addressImage } from '../../src/environment/image/address.ts';
import { mainJs } from './scene.ts';

/** A label of this test run, for images that go at its end (test/support/setup-engine.ts), with what stands behind them. */
export function runLabel(): string {
  return `run-claude.test=${path.basename(process.env['RUN_CLAUDE_TESTS_SHARED'] ?? tmpdir())}`;
}

/** The image of this working copy, built when it is not on the engine yet. */
export async function testImage(engine: Engine): Promise<string> {
  const tag = addressImage(engine, { env: process.env, toolchain: false });
  if (await engine.images.has(tag)) return tag;
  return execFileSync(process.execPath, [mainJs, 'build'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim();
}
