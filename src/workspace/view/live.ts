import { isInDotGit } from '../../core/git/names.ts';
import { liesBelow, type RelPath } from '../../core/text/path.ts';
import type { ListedEntry } from '../../core/types/collector.ts';
import type { WithheldGroup } from '../../core/types/entry.ts';
import type { Collector } from '../collector/client.ts';
import { askedBack, baseIgnoreRules, IgnoredOutput } from '../collector/ignored.ts';
import { prunedLister } from '../collector/list-pruned.ts';
import type { Delta, LayerView } from '../layer/layer.ts';
import { compareLayerToBase } from './collect/compare-layer-to-base.ts';
import { withMadeOutput } from './made-output.ts';
import type { LiveChange, LiveChanges, LiveReader } from './workspace.ts';

/**
 * Scans a layer again and again, by metadata, without reading content. The base is asked once for each path. A scan in
 * which every directory lists the same as before compares nothing, because every write moves a change time.
 */
export function liveReader(
  collector: Collector,
  view: Pick<LayerView, 'delta'>,
  { includeIgnored, hasSetup }: { readonly includeIgnored: boolean | readonly string[]; readonly hasSetup: boolean },
): LiveReader {
  const source = rememberingBase(collector);
  const baseRules = baseIgnoreRules(collector);
  const rules = hasSetup ? withMadeOutput(baseRules, source) : baseRules;
  const asked = askedBack(includeIgnored);
  let last: readonly LiveChange[] | undefined;
  let ignored: readonly WithheldGroup[] = [];

  const skipped = new Set<string>();
  const list = prunedLister(collector, 'upper', async (dir) => {
    if (includeIgnored !== false || !(await rules.whole(dir))) return true;
    skipped.add(dir);
    return false;
  });
  /** From the list that was made, without asking the collector again. */
  const deltaOf = async (entries: readonly ListedEntry[]): Promise<Delta> => {
    const again = async function* () {
      yield* entries;
    };
    const { present, deleted, opaque } = await view.delta({ ...collector, list: again });
    const shown = (path: string): boolean => !isInDotGit(path) && !liesBelow(path, skipped);
    return { present, deleted: deleted.filter(shown), opaque: opaque.filter(shown) };
  };
  const compare = async (delta: Delta): Promise<LiveChanges> => {
    const changes: LiveChange[] = [];
    const output = new IgnoredOutput();
    for (const { path, before, after } of await compareLayerToBase(source, delta)) {
      const kind = isInDotGit(path) ? undefined : liveKind(before, after);
      if (kind === undefined) continue;
      const directory = (after ?? before)?.kind === 'dir';
      const top = asked(path, directory) ? undefined : await rules.top(path, directory);
      const size = after?.size ?? 0;
      // A file that the project has is listed, as in the review, unless its directory is ignored.
      if (top === undefined || (top === path && before !== undefined && !directory)) {
        changes.push({ path: path as RelPath, kind, size, stamp: after?.ctimeNs ?? '' });
        continue;
      }
      output.add(top, size);
    }
    return { changes, ignored: output.groups() };
  };
  return {
    async look(counting) {
      skipped.clear();
      if (counting) {
        const whole = await prunedLister(collector, 'upper', async () => true)();
        const look = await compare(await deltaOf(whole.entries));
        ({ ignored } = look);
        return look;
      }
      const { entries, same } = await list();
      if (!same || last === undefined) last = (await compare(await deltaOf(entries))).changes;
      return { changes: last, ignored };
    },
  };
}

/** A collector that is asked once for each path of the base, which does not change while it is watched. */
function rememberingBase(collector: Collector): Collector {
  const known = new Map<string, ListedEntry | undefined>();
  return {
    ...collector,
    async stat(root, path) {
      if (root !== 'base') return collector.stat(root, path);
      if (known.has(path)) return known.get(path);
      const entry = await collector.stat(root, path);
      known.set(path, entry);
      return entry;
    },
  };
}

function liveKind(
  before: Parameters<typeof sameMeta>[0] | undefined,
  after: Parameters<typeof sameMeta>[0] | undefined,
): LiveChange['kind'] | undefined {
  if (after?.problem !== undefined) return 'unreadable';
  if (before === undefined) return after === undefined ? undefined : 'created';
  if (after === undefined) return 'deleted';
  if (before.kind !== after.kind) return 'type';
  if (!sameMeta(before, after)) return 'modified';
  return before.mode === after.mode ? undefined : 'mode';
}

type Meta = Awaited<ReturnType<Collector['stat']>> & object;

function sameMeta(a: Meta, b: Meta): boolean {
  if (a.kind === 'dir') return true;
  return a.kind === 'symlink' ? a.target === b.target : a.size === b.size && a.mtimeNs === b.mtimeNs;
}
