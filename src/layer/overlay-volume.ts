import type { Engine } from '../types/engine.ts';

export interface OverlayVolume {
  readonly name: string;
  readonly sessionId: string;
  /** As the engine finds them, the winning one first; without commas, colons and backslashes. */
  readonly lowers: readonly string[];
  /** Without, nothing can be written; then there are two lowers at least. */
  readonly above?: { readonly upper: string; readonly work: string };
}

/** A volume that the engine mounts as an overlay. One of the same name is removed: that of a command that was killed. */
export async function createOverlay(engine: Engine, { name, sessionId, lowers, above }: OverlayVolume): Promise<void> {
  const writable = above === undefined ? '' : `,upperdir=${above.upper},workdir=${above.work}`;
  await engine.removeVolume(name);
  await engine.createVolume({
    name,
    labels: { 'run-claude.session': sessionId },
    options: {
      type: 'overlay',
      device: 'overlay',
      o: `nosuid,nodev,lowerdir=${lowers.join(':')}${writable},userxattr`,
    },
  });
}
