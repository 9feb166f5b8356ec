import type { OpenProgress } from '../../../core/progress/open-progress.ts';
import type { Step } from './steps/steps.ts';

/** Progress by files: folders are steps too, and a file that takes the place of another has two. */
export class CountedFiles {
  readonly #progress: OpenProgress;
  readonly #total: number;
  readonly #ended = new Set<string>();

  constructor(steps: readonly Step[], progress: OpenProgress) {
    this.#progress = progress;
    this.#total = new Set(steps.filter(isFileStep).map(({ path }) => path)).size;
  }

  /** The first content is about to get its name. */
  begin(): void {
    if (this.#ended.size === 0 && this.#total > 0) this.#report();
  }

  end(step: Step): void {
    if (!isFileStep(step)) return;
    this.#ended.add(step.path);
    this.#report();
  }

  #report(): void {
    this.#progress.count({ done: this.#ended.size, total: this.#total, unit: 'files' });
  }
}

function isFileStep({ pre, post }: Step): boolean {
  return [pre, post].some((entry) => entry !== undefined && entry.kind !== 'dir');
}
