import { expect, it } from 'vitest';
import type { Container } from '../../../../src/core/types/engine.ts';
import { runWithGateway } from '../../../../src/environment/setup/run-with-gateway.ts';
import type { Gateway } from '../../../../src/network/gateway/start-gateway.ts';

/** A container that can be ended once it was started, and that runs until then. */
function endlessContainer() {
  let end: ((status: number) => void) | undefined;
  const ended = new Promise<number>((resolve) => {
    end = resolve;
  });
  let hasStarted = false;
  const container = {
    start: async () => {
      hasStarted = true;
    },
    kill: async () => {
      if (!hasStarted) throw new Error('not running');
      end?.(137);
    },
    wait: () => ended,
  };
  return container as unknown as Container;
}

function gatewayWith(parts: Partial<Gateway>): Gateway {
  const never = new Promise<never>(() => undefined);
  return {
    prepared: Promise.resolve(),
    ready: Promise.resolve(),
    lost: never,
    begin: () => undefined,
    ...parts,
  } as unknown as Gateway;
}

it('an interruption before the start ends the container after it, and gives it no work', async () => {
  const interruption = new AbortController();
  let prepare: (() => void) | undefined;
  const prepared = new Promise<void>((resolve) => {
    prepare = resolve;
  });
  let hasWork = false;
  const running = runWithGateway(endlessContainer(), gatewayWith({ prepared }), {
    signal: interruption.signal,
    limitMs: 60_000,
    onStarted: () => {
      hasWork = true;
    },
  });
  interruption.abort(new Error('Ctrl-C'));
  prepare?.();
  await expect(running).rejects.toThrow('Ctrl-C');
  expect(hasWork).toBe(false);
});

it('ends a container whose gateway is lost, after its time, and for a reason that is watched for; the first one counts', async () => {
  const { signal } = new AbortController();
  const lost = Promise.resolve(new Error('the gateway has ended'));
  const gateway = gatewayWith({ lost } as Partial<Gateway>);
  expect(await runWithGateway(endlessContainer(), gateway, { signal, limitMs: 60_000 })).toEqual({
    status: 137,
    stopped: 'the gateway has ended',
  });
  expect((await runWithGateway(endlessContainer(), gatewayWith({}), { signal, limitMs: 60 })).stopped).toMatch(
    /^it took more than/,
  );
  let watches = true;
  const watch = async (stop: (why: string) => void) => {
    const timer = setInterval(() => stop('the disk is full'), 10);
    return () => {
      clearInterval(timer);
      watches = false;
    };
  };
  const watched = await runWithGateway(endlessContainer(), gatewayWith({}), { signal, limitMs: 60_000, watch });
  expect([watched.stopped, watches]).toEqual(['the disk is full', false]);
});
