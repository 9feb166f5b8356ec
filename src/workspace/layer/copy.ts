import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { maxPathBytes } from '../../core/host/files/path-limit.ts';
import { removeTreeSync } from '../../core/host/files/remove-tree.ts';
import { makePrivateDir, writeFileAtomic } from '../../core/store/record.ts';
import { decodeBytes, encodeBytes, liesBelow, parentPath } from '../../core/text/path.ts';
import { EVERYTHING } from '../../core/text/selection.ts';
import type { ListedEntry } from '../../core/types/collector.ts';
import type { Mount } from '../../core/types/engine.ts';
import type { Tell } from '../../core/types/event.ts';
import { copyPart } from '../../environment/setup/copy-part.ts';
import { writeNonce } from '../base/generations/generation.ts';
import { refreshTree } from '../base/refresh/refresh.ts';
import type { Owner } from '../base/refresh/touched-directories.ts';
import type { Collector } from '../collector/client.ts';
import { compareSnapshots } from '../scan/snapshot.ts';
import { walkTree } from '../scan/walk.ts';
import type { Delta, Layer, LayerView } from './layer.ts';
import { readNonce, viewDirectories } from './overlay-layer.ts';
import { layerDir, ownerInside, WORKSPACE } from './places.ts';
import type { WorkspaceStrategy } from './strategy.ts';

/**
 * A second copy of the base, mounted as it is. The inode and change time of every entry are recorded before the agent
 * starts: no program inside can set them, so they tell which entries the session touched.
 */
export const copyStrategy: WorkspaceStrategy = {
  open({ engine, plan, tell, signal }, { generation }) {
    const dir = layerDir(plan.sessionDir);
    const addMade = () => copyPart(engine, plan, 'workspace', (target) => ({ ...mountOf(dir, false), target }));
    const place = { dir, generation, owner: ownerInside(plan.user), tell, addMade };
    return openCopy(signal === undefined ? place : { ...place, signal });
  },
  view: ({ sessionDir }, { generation }) => viewCopy(layerDir(sessionDir), generation),
  async openScratch({ plan }) {
    return { mounts: [mountOf(layerDir(plan.sessionDir), true)], writable: false, close: async () => undefined };
  },
  layerVolumes: () => [],
  planned: ({ sessionDir }) => ({ mount: mountOf(layerDir(sessionDir), false) }),
};

interface CopyPlace {
  readonly dir: string;
  readonly generation: string;
  readonly owner: Owner | undefined;
  readonly tell: Tell;
  /** Adds what a setup made. */
  readonly addMade: () => Promise<void>;
  readonly signal?: AbortSignal;
}

function mountOf(dir: string, readonly: boolean): Mount {
  return { kind: 'bind', source: path.join(dir, 'upper'), target: WORKSPACE, readonly };
}

async function openCopy(place: CopyPlace): Promise<Layer> {
  const { dir, generation } = place;
  const manifest = path.join(dir, 'manifest');
  makePrivateDir(dir);
  // Without a manifest no agent ever started on this copy: a crash may have left it half done.
  if (!existsSync(manifest)) {
    await copyTree(place);
    await place.addMade();
  }
  if (readNonce(dir) === undefined) writeNonce(dir);
  return {
    ...viewCopy(dir, generation),
    mounts: [mountOf(dir, false)],
    prunable: [],
    begin: (collector) => recordCopy(collector, manifest),
    async close(keep) {
      if (!keep) removeTreeSync(dir);
    },
  };
}

function viewCopy(dir: string, generation: string): LayerView {
  const delta = (collector: Collector) => copyDelta(collector, path.join(dir, 'manifest'));
  return { ...viewDirectories(dir, generation), delta };
}

/** Records every entry of the copy, before the agent starts. A record that exists is of an earlier start. */
export async function recordCopy(collector: Collector, manifest: string): Promise<void> {
  if (existsSync(manifest)) return;
  const lines: string[] = [];
  for await (const entry of collector.list('upper')) lines.push(entry.path, identity(entry));
  writeFileAtomic(manifest, encodeBytes(lines.join('\0')));
}

/** Moves with every change of content, mode, links or owner (change time), and with a new entry at the same path (inode). */
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
    maxPathBytes: maxPathBytes([upper]),
    ...signal,
  });
  const differences = compareSnapshots(new Map(), walked.snapshot);
  await refreshTree({ tree: path.join(dir, 'upper'), walked, differences, owner, tell, ...signal });
}

/** What differs from the record that {@link recordCopy} wrote. */
export async function copyDelta(collector: Collector, manifest: string): Promise<Delta> {
  const known = new Map<string, string>();
  const fields = decodeBytes(readFileSync(manifest)).split('\0');
  for (let at = 0; at + 1 < fields.length; at += 2) known.set(fields[at] as string, fields[at + 1] as string);
  const present: ListedEntry[] = [];
  const unlisted = new Set<string>();
  for await (const entry of collector.list('upper')) {
    if (known.get(entry.path) !== identity(entry) || entry.problem !== undefined) present.push(entry);
    if (entry.problem !== undefined) unlisted.add(entry.path);
    known.delete(entry.path);
  }
  const deleted = [...known.keys()].filter((one) => !known.has(parentPath(one)) && !liesBelow(one, unlisted));
  return { present, deleted, opaque: [] };
}
