import type { Runtime } from '../../core/types/runtime.ts';

export interface OverlayVolume {
  readonly name: string;
  readonly sessionId: string;
  /** Paths of the engine's machine, the winning one first; without commas, colons and backslashes. */
  readonly lowers: readonly string[];
  /** Undefined: the overlay is read-only, and has two lowers at least. */
  readonly above?: Above;
}

interface Above {
  readonly upper: string;
  readonly work: string;
}

/** Makes a volume that the engine mounts as an overlay, in place of one that a killed command left under that name. */
export async function createOverlay(engine: Runtime, { name, sessionId, lowers, above }: OverlayVolume): Promise<void> {
  await engine.removeVolume(name);
  const labels = { 'run-claude.session': sessionId };
  await engine.createVolume({ name, labels, options: overlayOptions(lowers, above) });
}

/** Options of the engine's local volume driver. */
export function overlayOptions(lowers: readonly string[], above: Above | undefined): Readonly<Record<string, string>> {
  const writable = above === undefined ? '' : `,upperdir=${above.upper},workdir=${above.work}`;
  return {
    type: 'overlay',
    device: 'overlay',
    o: `nosuid,nodev,lowerdir=${lowers.join(':')}${writable},userxattr`,
  };
}
