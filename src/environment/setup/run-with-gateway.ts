import type { Container } from '../../core/types/engine.ts';
import type { Gateway } from '../../network/gateway/start-gateway.ts';

/** Ends the container. The first reason counts. */
export type Stop = (why: string) => void;

export interface RunWithGateway {
  readonly signal: AbortSignal;
  readonly limitMs: number;
  /** Watches for reasons to stop, from before the start until the function that it returns is called. */
  watch?(stop: Stop): Promise<() => void>;
  onStarted?(): void;
}

export interface EndWithGateway {
  readonly status: number;
  /** Why it was ended; undefined where it ended by itself. */
  readonly stopped: string | undefined;
}

/**
 * Starts a container that was created next to its gateway and waits for its end. It is ended when the gateway fails, after
 * `limitMs`, and when the signal aborts.
 *
 * @throws the signal's reason, once the container has ended; the engine's errors
 */
export async function runWithGateway(
  container: Container,
  gateway: Gateway,
  { signal, limitMs, watch, onStarted }: RunWithGateway,
): Promise<EndWithGateway> {
  let stopped: string | undefined;
  const stop: Stop = (why) => {
    stopped ??= why;
    void container.kill('SIGKILL').catch(() => undefined);
  };
  const onAbort = (): void => stop('it was interrupted');
  signal.addEventListener('abort', onAbort, { once: true });
  const timer = setTimeout(() => stop(`it took more than ${limitMs / 60_000} minutes`), limitMs);
  const unwatch = await watch?.(stop);
  gateway.ready.catch((error: Error) => stop(error.message));
  void gateway.lost.then((error) => stop(error.message));
  try {
    await gateway.prepared;
    await container.start();
    gateway.begin();
    // Nothing could be ended before the start.
    if (stopped !== undefined) await container.kill('SIGKILL');
    else onStarted?.();
    const status = await container.wait();
    signal.throwIfAborted();
    return { status, stopped };
  } finally {
    clearTimeout(timer);
    unwatch?.();
    signal.removeEventListener('abort', onAbort);
  }
}
