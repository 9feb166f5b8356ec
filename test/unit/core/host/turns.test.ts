import { expect, it } from 'vitest';
import { turnsOf } from '../../../../src/core/host/processes/turns.ts';
import type { RelPath } from '../../../../src/core/text/path.ts';
import type { ListedEntry } from '../../../../src/core/types/collector.ts';
import { setIgnoredAside } from '../../../../src/workspace/view/collect/ignored-aside.ts';

it('a loop without anything to wait for hears a signal, and ends with its reason', async () => {
  const controller = new AbortController();
  setTimeout(() => controller.abort(new Error('SIGTERM')), 1);
  const turn = turnsOf(controller.signal);
  const loop = async (): Promise<void> => {
    // Without a turn for others it would never end.
    for (;;) await turn();
  };
  await expect(loop()).rejects.toThrow('SIGTERM');
});

it('a collection of many entries is ended by a signal before all of them are sorted', async () => {
  const controller = new AbortController();
  setTimeout(() => controller.abort(new Error('SIGTERM')), 1);
  let asked = 0;
  const after = { kind: 'dir', mode: 0o755, size: 0, mtimeNs: '1' } as ListedEntry;
  const pairs = Array.from({ length: 200_000 }, (_, index) => ({
    path: `folder${index}` as RelPath,
    before: undefined,
    get after(): ListedEntry {
      asked += 1;
      return after;
    },
  }));
  const collector = { stat: async () => undefined, readUpTo: async function* () {} };
  const sorting = setIgnoredAside(pairs, {
    collector: collector as never,
    includeIgnored: false,
    signal: controller.signal,
  });
  await expect(sorting).rejects.toThrow('SIGTERM');
  expect(asked).toBeLessThan(pairs.length);
});
