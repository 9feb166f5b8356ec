import type { Tell } from '../../core/types/event.ts';

/** A shorter audit shows no progress. */
const SHOWN_AFTER_MS = 1000;
const TELL_EVERY_MS = 500;

/** Tells how far an audit is: by a clock, since one change may take seconds. */
export class AuditProgress implements Disposable {
  readonly #tell: Tell;
  readonly #total: number;
  readonly #timer: NodeJS.Timeout;
  readonly #startMs = performance.now();
  #what = 'Auditing the changes';
  #done = 0;
  #isShown = false;

  constructor(tell: Tell, total: number) {
    this.#tell = tell;
    this.#total = total;
    this.#timer = setInterval(() => this.#show(), TELL_EVERY_MS);
    this.#timer.unref();
  }

  /** So many changes are judged, each of them alone. */
  judged(done: number): void {
    this.#done = done;
  }

  /** From now on the changes are judged together. */
  judgesTogether(): void {
    this.#end();
    this.#what = 'Auditing the changes together';
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#end();
  }

  #show(): void {
    if (performance.now() - this.#startMs < SHOWN_AFTER_MS) return;
    this.#isShown = true;
    this.#tell({ kind: 'progress', what: this.#what, done: this.#done, total: this.#total, unit: 'files' });
  }

  #end(): void {
    if (this.#isShown) this.#tell({ kind: 'progress-end', what: this.#what });
    this.#isShown = false;
  }
}
