import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { writeNonce } from '../base/generation.ts';
import { type Owner, refreshTree } from '../base/refresh.ts';
import type { Collector } from '../collector/client.ts';
import { removeTreeSync } from '../host/remove-tree.ts';
import { EVERYTHING } from '../scan/selection.ts';
import { compareSnapshots } from '../scan/snapshot.ts';
import { parentOf, walkTree } from '../scan/walk.ts';
import { makePrivateDir, writeFileAtomic } from '../store/record.ts';
import { decodeBytes, encodeBytes } from '../text/path.ts';
import type { ListedEntry } from '../types/collector.ts';
import type { Tell } from '../types/event.ts';
import type { Delta, Layer, LayerView } from './layer.ts';
import { type LayerPlace, readNonce, viewDirectories } from './layers.ts';

export interface CopyPlace extends Omit<LayerPlace, 'engine' | 'sessionId' | 'image'> {
  readonly owner: Owner | undefined;
  readonly tell: Tell;
  readonly signal?: AbortSignal;
}

/**
 * A whole copy of the base, mounted as it is. What the session touched is told by inode and change time, which
 * nobody inside can set: each entry's were written down before the agent started.
 */
export async function openCopy(place: CopyPlace): Promise<Layer> {
  const { dir, generation } = place;
  const manifest = path.join(dir, 'manifest');
  makePrivateDir(dir);
  // Without a manifest no agent has ever started on it: a copy that a crash left half done.
  if (!existsSync(manifest)) await copyTree(place);
  if (readNonce(dir) === undefined) writeNonce(dir);
  return {
    ...viewCopy(dir, generation),
    strategy: 'copy',
    mounts: [{ kind: 'bind', source: path.join(dir, 'upper'), target: place.target, readonly: false }],
    async begin(collector) {
      if (existsSync(manifest)) return;
      const lines: string[] = [];
      for await (const entry of collector.list('upper')) lines.push(entry.path, identity(entry));
      writeFileAtomic(manifest, encodeBytes(lines.join('\0')));
    },
    async close(keep) {
      if (!keep) removeTreeSync(dir);
    },
  };
}

/** Both sides in directories of ours; what was touched is told by the list that was made before the agent started. */
export function viewCopy(dir: string, generation: string): LayerView {
  const delta = (collector: Collector) => copyDelta(collector, path.join(dir, 'manifest'));
  return { ...viewDirectories(dir, generation), delta };
}

/** Content, mode, links and owner all move the change time; a new entry at the same path is another inode. */
function identity(entry: ListedEntry): string {
  return `${entry.ino} ${entry.ctimeNs}`;
}

async function copyTree(place: CopyPlace): Promise<void> {
  const { dir, owner, tell } = place;
  const upper = path.join(dir, 'upper');
  removeTreeSync(upper);
  makePrivateDir(upper);
  const signal = place.signal === undefined ? {} : { signal: place.signal };
  const walked = await walkTree({
    root: path.join(place.generation, 'tree'),
    selection: EVERYTHING,
    plain: true,
    ...signal,
  });
  const differences = compareSnapshots(new Map(), walked.snapshot);
  await refreshTree({ tree: path.join(dir, 'upper'), walked, differences, owner, tell, ...signal });
}

async function copyDelta(collector: Collector, manifest: string): Promise<Delta> {
  const known = new Map<string, string>();
  const fields = decodeBytes(readFileSync(manifest)).split('\0');
  for (let at = 0; at + 1 < fields.length; at += 2) known.set(fields[at] as string, fields[at + 1] as string);
  const present: ListedEntry[] = [];
  const unlisted: string[] = [];
  for await (const entry of collector.list('upper')) {
    if (known.get(entry.path) !== identity(entry) || entry.problem !== undefined) present.push(entry);
    if (entry.problem !== undefined) unlisted.push(`${entry.path}/`);
    known.delete(entry.path);
  }
  const gone = [...known.keys()].filter(
    (one) => !known.has(parentOf(one)) && !unlisted.some((dir) => one.startsWith(dir)),
  );
  return { present, gone, opaque: [] };
}
