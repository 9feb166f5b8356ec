import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pack } from 'tar-stream';
import { expect } from 'vitest';
import type { Engine } from '../../../../src/core/types/runtime.ts';
import { INPUTS_LABEL } from '../../../../src/environment/image/inputs.ts';
import { oldName } from '../../../../src/environment/image/stale-images.ts';
import { planGc, runGc } from '../../../../src/session/later/gc/gc.ts';
import type { GcOptions } from '../../../../src/session/later/gc/gc-known.ts';
import { requestEngine } from '../../../support/raw-engine.ts';

const HOUR_MS = 3_600_000;
const MONTH_MS = 31 * 24 * HOUR_MS;

/** As ours is: a stage that compiles, and an image that takes from it. */
const OURS = `ARG BASE
FROM $BASE AS system
ARG TEST
LABEL run-claude.image=stage run-claude.test=$TEST
RUN echo $TEST >/of
FROM system AS builder
RUN echo compiled >/out
FROM system
COPY --from=builder /out /out
ARG CLAUDE
LABEL run-claude.image=$CLAUDE
`;
const THEIRS = 'ARG OURS\nFROM $OURS\nARG WORD\nRUN echo $WORD >/word\n';

/** Builds twice, in small, as `build` and `build --rebuild` do, others upon the result, and has gc look at it. */
export async function gcAfterBuilds(engine: Engine, socket?: string): Promise<void> {
  const id = randomBytes(8).toString('hex');
  const [tag, base, theirs] = [`run-claude:${id}`, `run-claude-base:${id}`, `run-claude-test-theirs:${id}`];
  const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-left-behind-'));
  const build = async (name: string, dockerfile: string, args: Readonly<Record<string, string>>): Promise<string> => {
    const tar = pack();
    tar.entry({ name: 'Dockerfile' }, dockerfile);
    tar.finalize();
    const labels = { [INPUTS_LABEL]: `{"of":"${name}"}` };
    await engine.images.build(tar, { tag: name, args, labels, fresh: true, onOutput: () => undefined });
    return (await engine.images.facts(name))?.id ?? 'none';
  };
  const ours = (): Promise<string> => build(tag, OURS, { BASE: base, TEST: id, CLAUDE: '1.2.3' });
  const onlyOurs: Engine = {
    ...engine,
    // Other builds of this machine are none of the test's.
    list: async () =>
      (await engine.list()).filter(
        ({ kind, name, labels }) => kind === 'image' && (labels['run-claude.test'] === id || name === base),
      ),
  };
  const places = { stateDir: dir, cacheDir: dir, dataDir: dir };
  const options = (later: number, currentImages: readonly string[]): GcOptions => ({
    places,
    engine: onlyOurs,
    nowMs: Date.now() + later,
    currentImages,
  });
  const wouldRemove = async (later: number, current: readonly string[]): Promise<readonly string[]> =>
    (await planGc(options(later, current))).map(({ name }) => name).sort();
  const removeContainer = (): Promise<unknown> =>
    requestEngine('DELETE', `/containers/${theirs.replace(':', '-')}`, undefined, socket);
  const stage = expect.stringMatching(/^sha256:/);
  try {
    const rootfs = pack();
    rootfs.entry({ name: 'bin/sh', mode: 0o755 }, readFileSync('/bin/busybox'));
    rootfs.finalize();
    await engine.images.import(rootfs, base);
    const first = await ours();
    const old = oldName(first);
    expect(await engine.images.label(tag, INPUTS_LABEL)).toBe(`{"of":"${tag}"}`);
    expect((await engine.list()).find(({ name }) => name === tag)?.labels).toMatchObject({
      [INPUTS_LABEL]: `{"of":"${tag}"}`,
    });
    const theirsFirst = await build(theirs, THEIRS, { OURS: tag, WORD: 'one' });
    await ours();
    await engine.images.name(first, old);
    await build(theirs, THEIRS, { OURS: tag, WORD: 'two' });

    await requestEngine(
      'POST',
      `/containers/create?name=${theirs.replace(':', '-')}`,
      { Image: first, Cmd: ['sh'] },
      socket,
    );
    // A build may be running. Images that containers use stay, and images that users built upon run-claude's stay for good.
    expect(await wouldRemove(0, [tag, base])).toEqual([]);
    expect(await wouldRemove(2 * HOUR_MS, [tag, base])).toEqual([stage, stage]);
    expect(await wouldRemove(MONTH_MS, [tag, base])).toEqual([stage, stage]);
    await removeContainer();
    expect(await wouldRemove(2 * HOUR_MS, [tag, base])).toEqual([old, stage, stage]);
    expect((await runGc(options(2 * HOUR_MS, [tag, base]))).problems).toEqual([]);
    expect(await wouldRemove(MONTH_MS, [tag, base])).toEqual([]);
    expect(await engine.images.has(tag)).toBe(true);
    expect(await engine.images.has(theirsFirst)).toBe(true);

    // Another version's month is over.
    expect(await wouldRemove(MONTH_MS, [])).toEqual([base, tag].sort());
    await engine.images.remove(theirsFirst);
    await engine.images.remove(theirs);
    expect((await runGc(options(MONTH_MS, []))).problems).toEqual([]);
    for (const name of [tag, base, old, first]) expect(await engine.images.has(name), name).toBe(false);
  } finally {
    await removeContainer().catch(() => undefined);
    for (const name of [theirs, tag, base]) await engine.images.remove(name);
    rmSync(dir, { recursive: true });
  }
}
