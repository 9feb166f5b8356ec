import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RelPath } from '../../../../src/core/text/path.ts';
import type { Collector } from '../../../../src/workspace/collector/client.ts';
import { runCollector } from '../../../support/collector-program.ts';

let dir: string;
let tree: string;

beforeAll(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'run-claude-hostile-'));
  tree = path.join(dir, 'tree');
  mkdirSync(path.join(tree, 'kinds'), { recursive: true });
  writeFileSync(path.join(tree, 'kinds/file'), 'content');
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

async function content(collector: Collector, name: string): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of collector.read('tree', name as RelPath)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

it('a file with a lease on it is refused, and no other request waits for it', async () => {
  const name = path.join(tree, 'leased');
  writeFileSync(name, 'leased');
  const script = `import fcntl, os, signal, sys
signal.signal(signal.SIGIO, signal.SIG_IGN)
fcntl.fcntl(os.open(sys.argv[1], os.O_RDWR), fcntl.F_SETLEASE, fcntl.F_WRLCK)
print('held', flush=True)
sys.stdin.read()`;
  const holder = spawn('python3', ['-c', script, name], { stdio: ['pipe', 'pipe', 'inherit'] });
  const { collector } = await runCollector({ tree });
  try {
    await once(holder.stdout, 'data');
    const found: string[] = [];
    for await (const entry of collector.list('tree')) found.push(entry.path);
    expect(found).toContain('leased');
    await expect(content(collector, 'leased')).rejects.toMatchObject({ code: 'COLLECTOR_READ' });
    expect(await content(collector, 'kinds/file')).toBe('content');
    // It held it all the while: the kernel takes it away after three quarters of a minute.
    expect(holder.exitCode).toBe(null);
  } finally {
    collector.close();
    holder.stdin.end();
    await once(holder, 'close');
  }
  const after = await runCollector({ tree });
  expect(await content(after.collector, 'leased')).toBe('leased');
  after.collector.close();
});

describe('a directory that is swapped for a link again and again', () => {
  const ROUNDS = 4000;
  const SECRET = 'what lies outside';
  let swap: string;
  beforeAll(() => {
    swap = path.join(dir, 'swap');
    execFileSync('cc', ['-O1', '-o', swap, path.resolve(import.meta.dirname, '../../../support/apply-shim/swap.c')]);
  });

  function race(name: string) {
    const root = path.join(dir, name);
    const [folder, outside, link] = [
      path.join(root, 'in/a/d'),
      path.join(root, 'outside'),
      path.join(root, 'in/a/link'),
    ];
    for (const one of [path.join(folder, 'below'), path.join(outside, 'below')]) mkdirSync(one, { recursive: true });
    for (const one of ['f', 'below/f']) {
      writeFileSync(path.join(folder, one), 'inside');
      writeFileSync(path.join(outside, one), SECRET);
    }
    writeFileSync(path.join(outside, 'below/outside-only'), '');
    symlinkSync(outside, link);
    const swapper = spawn(swap, [folder, link], { stdio: 'ignore' });
    return { root: path.join(root, 'in'), folder, [Symbol.dispose]: () => void swapper.kill('SIGKILL') };
  }

  it('never leads the collector out of its tree', async () => {
    using scene = race('real');
    const { collector } = await runCollector({ tree: scene.root });
    const counts = { inside: 0, refused: 0, listed: 0 };
    for (let round = 0; round < ROUNDS; round++) {
      const below = (['', 'a', 'a/d', 'a/d/below'] as const)[round % 4];
      try {
        for await (const { path: one } of collector.list('tree', below as RelPath)) {
          expect(one).not.toContain('outside-only');
          counts.listed += 1;
        }
      } catch (error) {
        expect(error).toMatchObject({ code: 'COLLECTOR_READ' });
      }
      try {
        expect(await content(collector, round % 2 === 0 ? 'a/d/f' : 'a/d/below/f')).toBe('inside');
        counts.inside += 1;
      } catch (error) {
        expect(error).toMatchObject({ code: 'COLLECTOR_READ' });
        counts.refused += 1;
      }
    }
    collector.close();
    for (const count of Object.values(counts)) expect(count).toBeGreaterThan(ROUNDS / 100);
  });

  it('leads a reader that opens by path out of its tree', () => {
    using scene = race('naive');
    const seen = (): boolean => readFileSync(path.join(scene.folder, 'f'), 'utf8') === SECRET;
    let led = false;
    for (let round = 0; round < ROUNDS * 10 && !led; round++) led = seen();
    expect(led).toBe(true);
  });
});
