import { execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openHostWalker } from '../../../../../src/review/apply/disk/host/host-path.ts';
import { performStep } from '../../../../../src/review/apply/disk/steps/perform-step.ts';

const ROUNDS = 10_000;
const root = mkdtempSync(path.join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'run-claude-race-'));
const swap = path.join(root, 'swap');

beforeAll(() => {
  execFileSync('cc', ['-O1', '-o', swap, path.resolve(import.meta.dirname, '../../../../support/apply-shim/swap.c')]);
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** A process that swaps a folder of the project for a link out of it, again and again, as fast as the kernel allows. */
function race(name: string) {
  const [project, outside] = [path.join(root, name, 'project'), path.join(root, name, 'outside')];
  for (const folder of [path.join(project, 'a', 'd'), outside]) mkdirSync(folder, { recursive: true });
  const link = path.join(project, 'a', 'link');
  symlinkSync(outside, link);
  const swapper = spawn(swap, [path.join(project, 'a', 'd'), link], { stdio: 'ignore' });
  return { project, outside, [Symbol.dispose]: () => void swapper.kill('SIGKILL') };
}

/** Runs rounds of `write` on a/d/f and returns how many wrote something. The walker may refuse any round. */
async function rounds(count: number, write: (round: number) => void, until = (): boolean => false): Promise<number> {
  let written = 0;
  for (let round = 0; round < count && !until(); round++) {
    try {
      write(round);
      written += 1;
    } catch (error) {
      const { code, name } = error as NodeJS.ErrnoException;
      if (name !== 'NotAFolder' && code === undefined) throw error;
    }
    if (round % 500 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  return written;
}

it.each(['descriptors', 'chdir'] as const)(
  'writes nothing outside the project in 10,000 rounds, by %s',
  async (way) => {
    using scene = race(way);
    const content = Buffer.from('session');
    let written = 0;
    {
      using walker = openHostWalker(scene.project, undefined, way);
      written = await rounds(ROUNDS, (round) => {
        const tools = { walker, temp: `.rc-${round}`, content: [content], cleared: false };
        const post = { kind: 'file', mode: 0o644, digest: 'd', size: content.length } as const;
        performStep({ path: 'a/d/f', post }, tools);
      });
    }
    expect(readdirSync(scene.outside)).toEqual([]);
    expect(written).toBeGreaterThan(ROUNDS / 100);
  },
);

it('control: a writer that checks and then writes by path is led out of the project', async () => {
  using scene = race('naive');
  const folder = path.join(scene.project, 'a', 'd');
  const led = (): boolean => readdirSync(scene.outside).length > 0;
  const naive = (): void => {
    if (realpathSync(folder) !== folder) throw Object.assign(new Error('a link'), { code: 'ELOOP' });
    writeFileSync(path.join(folder, 'f'), 'session');
  };
  await rounds(ROUNDS * 10, naive, led);
  expect(led()).toBe(true);
});
