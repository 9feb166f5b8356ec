import { expect, it, vi } from 'vitest';
import { oneAtATime } from '../../../../src/session/kept/one-at-a-time.ts';

it('a thing is used by one after another, made again after a failure, and not opened after its end', async () => {
  const close = vi.fn(async () => undefined);
  const open = vi.fn(async () => ({ close }));
  const thing = oneAtATime(open);
  let running = 0;
  const use = () =>
    thing.use(async () => {
      running += 1;
      expect(running).toBe(1);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running -= 1;
    });
  await Promise.all([use(), use()]);
  expect(open).toHaveBeenCalledTimes(1);
  const lost = thing.use(async () => {
    throw new Error('lost');
  });
  await expect(lost).rejects.toThrow('lost');
  expect(close).toHaveBeenCalledTimes(1);
  await use();
  expect(open).toHaveBeenCalledTimes(2);
  await thing.close();
  expect(close).toHaveBeenCalledTimes(2);
  await expect(use()).rejects.toThrow('has ended');
  expect(open).toHaveBeenCalledTimes(2);
});
