import { execFileSync } from 'node:child_process';
import { addressImage } from '../src/image/address.ts';
import type { Engine } from '../src/types/engine.ts';
import { mainJs } from './scene.ts';

/** The image of this working copy, built when it is not on the engine yet. */
export async function testImage(engine: Engine): Promise<string> {
  const tag = addressImage(engine, { env: process.env, toolchain: false });
  if (await engine.hasImage(tag)) return tag;
  return execFileSync(process.execPath, [mainJs, 'build'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim();
}
