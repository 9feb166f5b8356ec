import path from 'node:path';
import { EVERYTHING } from '../scan/selection.ts';
import { countEntries, encodeSnapshot, loadSnapshot, rowAt, type Snapshot } from '../scan/snapshot.ts';
import { walkTree } from '../scan/walk.ts';
import { makePrivateDir, writeFileAtomic } from '../store/record.ts';
import type { Layer, LayerView } from './layer.ts';
import { type LayerPlace, openLayers, overlayDelta, readNonce } from './layers.ts';

export interface OverlayPlace extends Omit<LayerPlace, 'generation' | 'lower'> {
  readonly project: string;
}

/**
 * Writes down what the project looks like at the start, so that an entry which both changed is not taken for the agent's
 * alone. Gives the number of its entries.
 */
export async function noteStart(dir: string, project: string): Promise<number> {
  makePrivateDir(dir);
  const { snapshot } = await walkTree({ root: project, selection: EVERYTHING, plain: true });
  writeFileAtomic(path.join(dir, 'start'), encodeSnapshot({ version: 1 }, snapshot));
  return countEntries(snapshot);
}

/** Straight over the project, by name only: nothing is copied, and what the person edits meanwhile shows through. */
export async function openOverlay(place: OverlayPlace): Promise<Layer> {
  const { project, dir } = place;
  const layer = await openLayers({ ...place, generation: dir, lower: project });
  return { ...layer, ...viewOverlay(dir, project), strategy: 'overlay' };
}

/** The layer in a directory of ours, the project itself as its other side. */
export function viewOverlay(dir: string, project: string): LayerView {
  return {
    roots: [
      { name: 'layer', mount: { kind: 'bind', source: dir, target: '', readonly: true } },
      { name: 'project', mount: { kind: 'bind', source: project, target: '', readonly: true } },
    ],
    places: { upper: 'layer/upper', base: 'project' },
    // Nothing of ours is written into the project, so only the layer can show that it is the right one.
    nonces: { layer: readNonce(dir) ?? '' },
    delta: overlayDelta,
    moved: () => movedMeanwhile(dir, project),
  };
}

/** Paths whose entry on the host is not what it was when the session started. */
async function movedMeanwhile(dir: string, project: string): Promise<(one: string) => boolean> {
  const start = readStart(dir) ?? new Map();
  const { snapshot: now } = await walkTree({ root: project, selection: EVERYTHING, plain: true });
  return (one) => {
    const [before, after] = [rowText(start, one), rowText(now, one)];
    return before !== after;
  };
}

function rowText(snapshot: Snapshot, one: string): string | undefined {
  const row = rowAt(snapshot, one);
  // A directory's own times move with every entry that comes and goes.
  return row === undefined || row.kind !== 'd' ? row && JSON.stringify(row) : `d ${row.mode}`;
}

function readStart(dir: string): Snapshot | undefined {
  try {
    return loadSnapshot(path.join(dir, 'start')).snapshot;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
