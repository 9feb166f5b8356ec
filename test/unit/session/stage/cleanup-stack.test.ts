import { expect, it } from 'vitest';
import { openCleanupStack } from '../../../../src/session/stage/cleanup-stack.ts';

it('closes in reverse order, each once, a group in its place, and the rest after a failure', async () => {
  const closed: string[] = [];
  const warnings: string[] = [];
  const cleanup = openCleanupStack((event) => {
    if (event.kind === 'message') warnings.push(event.text);
  });
  const close = (name: string): void => void closed.push(name);
  expect(cleanup.use('home', close)).toBe('home');
  const group = cleanup.group();
  cleanup.use('agent', () => {
    throw new Error('no engine');
  });
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  // The members of a group are closed concurrently: the first one waits for the second one.
  group.use('gateway', async (name) => {
    await released;
    close(name);
  });
  group.use('layer', (name) => {
    close(name);
    release();
  });
  await cleanup.close();
  await cleanup.close();
  expect([closed, warnings]).toEqual([['layer', 'gateway', 'home'], ['cleaning up: no engine']]);
});
