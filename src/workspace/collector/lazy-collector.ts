import type { TreeReader } from '../../core/types/collector.ts';
import { type CollectorParts, type RunningCollector, startCollector } from './container.ts';

/** A collector that is started by the first request: nothing needs it before the agent runs. */
export class LazyCollector {
  readonly #parts: CollectorParts;
  #started: Promise<RunningCollector> | undefined;
  #reason: Error | undefined;

  constructor(parts: CollectorParts) {
    this.#parts = parts;
  }

  /** Throws as {@link startCollector} does, at every call once the start failed. */
  get(): Promise<RunningCollector> {
    this.#started ??= this.#start();
    return this.#started;
  }

  /** Ends every request, also later ones, with this error. */
  interrupt(reason: Error): void {
    this.#reason = reason;
    this.#started?.then(
      (running) => running.interrupt(reason),
      () => undefined,
    );
  }

  async #start(): Promise<RunningCollector> {
    const running = await startCollector(this.#parts);
    if (this.#reason !== undefined) running.interrupt(this.#reason);
    return running;
  }

  /** Removes its container, if one was started. */
  async stop(): Promise<void> {
    const running = await this.#started?.catch(() => undefined);
    await running?.stop();
  }

  /** Reads through the collector, and starts it where it is not running. */
  get reader(): TreeReader {
    const get = () => this.get();
    return {
      async *list(root, below) {
        yield* (await get()).list(root, below);
      },
      async *read(root, file) {
        yield* (await get()).read(root, file);
      },
    };
  }
}
