import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Engine } from '../../src/core/types/runtime.ts';
import type { StrategyName } from '../../src/core/types/strategy.ts';
import { connectForTest } from '../support/engine.ts';
import { testImage } from '../support/image.ts';
import { summary, type WorkspaceScene, workspaceScene } from '../support/workspace-scene.ts';

let engine: Engine;
let image: string;
let scene: WorkspaceScene;

beforeAll(async () => {
  engine = await connectForTest();
  image = await testImage(engine);
});
afterAll(() => engine.close());
beforeEach(() => {
  scene = workspaceScene(engine, image);
  for (const name of ['victim', 'dir/kept', 'other/kept', 'policy.env']) {
    mkdirSync(path.dirname(path.join(scene.project, name)), { recursive: true });
    writeFileSync(path.join(scene.project, name), name);
  }
});
afterEach(() => scene.remove());

/** The goal is 100,000; fewer where time counts, and where the default strategy has shown it. */
const namesBy = (strategy: StrategyName): number =>
  process.env['RUN_CLAUDE_LONG'] === '1' && strategy === 'layers' ? 100_000 : 3000;
// setxattr(2) is call 188, ftruncate by perl's truncate; minbase has no setfattr.
const attack = (names: number): string => `
perl -e 'syscall(188, "/workspace/dir", "user.overlay.opaque", "y", 1, 0)'
perl -e 'syscall(188, "/workspace/other", "user.overlay.redirect", "/dir", 4, 0)'
mknod dir/kept2 c 0 0 2>/dev/null
mkfifo fifo
perl -e 'open(F, ">giant"); truncate(F, 15e12)'
ln -s /etc/passwd outside; ln -s /proc/self/fd/0 stdin; ln -s . loop
perl -e '$n = join("", map { chr(128 + $_ % 127) } 1..250); open(F, ">$n")'
perl -e 'for (1..500) { mkdir("d" x 200); chdir("d" x 200) or last }'
mkdir many; perl -e 'for (1..${names}) { open(F, ">many/$_") }'
rm victim; mkdir victim; ln -s /etc victim/etc
printf changed > policy.env`;

describe.each<StrategyName>(['layers', 'copy'])('a hostile layer by %s', (strategy) => {
  it('is listed or refused, and never followed or waited for', async () => {
    const id = `attack-${process.pid}-${strategy}`;
    const workspace = await scene.open(id, strategy, { exclude: [], mask: ['policy.env'] });
    await scene.inside(id, workspace, attack(namesBy(strategy)));
    const { changes, problems } = await workspace.collect();
    const by = new Map(changes.map((change) => [change.path as string, change]));
    const listed = new Set(summary(changes));
    // Forged marks hide nothing: what the base has there is neither deleted nor replaced.
    expect([...listed].filter((line) => /^deleted (dir|other)/.test(line))).toEqual([]);
    expect(by.get('fifo')?.after?.kind).toBe('fifo');
    expect(by.get('giant')?.problem).toMatch(/^sparse: 15000000000000 bytes, of which/);
    expect(by.get('outside')?.after?.target).toBe('/etc/passwd');
    expect(by.get('victim')?.kind).toBe('type');
    expect(by.get('victim/etc')?.after?.kind).toBe('symlink');
    expect([...by.keys()].filter((name) => name.startsWith('victim/etc/'))).toEqual([]);
    expect([...by.keys()].filter((name) => name.startsWith('many/'))).toHaveLength(namesBy(strategy));
    expect(problems.filter(({ why }) => why.includes('too deep'))).toHaveLength(1);
    expect(by.get('policy.env')?.problem).toMatch(/masked/);
    // Outside an overlay a device of number 0:0 needs no capability; it is an entry, not a deletion.
    if (strategy === 'copy') expect(by.get('dir/kept2')?.after?.kind).toBe('char');
    else expect(by.has('dir/kept2')).toBe(false);
    await workspace.close({ keepLayer: false });
  });

  it('cannot make the collector read another directory in its place', async () => {
    const id = `attack-${process.pid}-${strategy}-nonce`;
    const workspace = await scene.open(id, strategy);
    await workspace.close({ keepLayer: true });
    const layer = path.join(scene.plan(id, strategy).sessionDir, 'layer');
    writeFileSync(path.join(layer, 'nonce'), '');
    const readAgain = async (): Promise<void> => {
      const again = await scene.reopen(id, strategy, workspace.record);
      try {
        await again.collect();
      } finally {
        await again.close({ keepLayer: true });
      }
    };
    await expect(readAgain()).rejects.toMatchObject({ code: 'COLLECTOR_WRONG_MOUNT' });
  });
});
