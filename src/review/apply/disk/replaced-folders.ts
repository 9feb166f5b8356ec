import { namesBelow } from './host/host-entry.ts';
import { type HostWalker, NotAFolder } from './host/host-path.ts';
import { replacesFolder, type Step } from './steps/steps.ts';

/** Why a folder is not replaced. */
export const HOST_FILES_LOST = 'the folder has files on the host that would be lost';

/** A folder that something else replaces, with the steps that are one change with it. */
interface Replaced {
  readonly path: string;
  /** Paths in it that the session removes too. */
  readonly removed: ReadonlySet<string>;
  isBegun: boolean;
  isRemoving: boolean;
  isLost: boolean;
}

/**
 * Looks into each folder that is replaced before anything of that change is done, and again before its first file is
 * removed: what the user put there in the meantime would otherwise be met only when the folder is half empty. RACE: a
 * file can still be added in the moment between the look and the removal; then the folder stays, with that file alone.
 */
export class ReplacedFolders {
  readonly #ofStep = new Map<Step, Replaced>();
  readonly #walker: HostWalker;

  constructor(steps: readonly Step[], walker: HostWalker) {
    this.#walker = walker;
    const replacing = new Map(steps.filter(replacesFolder).map((step) => [step.path, step]));
    if (replacing.size === 0) return;
    const byTop = new Map<Step, Step[]>();
    for (const step of steps) {
      const top = topmost(step.path, replacing);
      if (top === undefined) continue;
      const inside = byTop.get(top);
      if (inside === undefined) byTop.set(top, [step]);
      else inside.push(step);
    }
    const byGroup = new Map<string, Replaced>();
    for (const [top, inside] of byTop) {
      const removed = new Set(inside.map(({ path }) => path));
      const replaced = { path: top.path, removed, isBegun: false, isRemoving: false, isLost: false };
      for (const step of inside) this.#ofStep.set(step, replaced);
      if (top.together !== undefined) byGroup.set(top.together, replaced);
    }
    for (const step of steps) {
      const replaced = byGroup.get(step.together ?? '');
      if (replaced !== undefined && !this.#ofStep.has(step)) this.#ofStep.set(step, replaced);
    }
  }

  /** Why a step must not be done; undefined where it may. Throws what reading the folder throws. */
  reasonAgainst(step: Step): string | undefined {
    const replaced = this.#ofStep.get(step);
    if (replaced === undefined) return undefined;
    const isRemoval = step.post === undefined;
    if (!replaced.isLost && (!replaced.isBegun || (isRemoval && !replaced.isRemoving))) {
      replaced.isBegun = true;
      replaced.isRemoving ||= isRemoval;
      replaced.isLost = this.#hasMore(replaced);
    }
    return replaced.isLost ? HOST_FILES_LOST : undefined;
  }

  #hasMore({ path, removed }: Replaced): boolean {
    try {
      return namesBelow(this.#walker, path).some((name) => !removed.has(name));
    } catch (error) {
      // The step itself finds that the folder is another thing now.
      if (error instanceof NotAFolder) return false;
      throw error;
    }
  }
}

function topmost(path: string, replacing: ReadonlyMap<string, Step>): Step | undefined {
  for (let end = path.indexOf('/'); end > 0; end = path.indexOf('/', end + 1)) {
    const top = replacing.get(path.slice(0, end));
    if (top !== undefined) return top;
  }
  return replacing.get(path);
}
