import { expect, it } from 'vitest';
import type { EngineFacts } from '../../../../src/core/types/engine.ts';
import type { Runtime } from '../../../../src/core/types/runtime.ts';
import { requireExec, requireImages, requireRunning } from '../../../../src/engines/capabilities/require-part.ts';

const facts = { kind: 'kubernetes', form: 'pod', endpoint: 'k8s:a' } as EngineFacts;
const bare = { facts } as Runtime;

it('a part that a runtime does not have is refused as an option is, with its name', () => {
  const refused = { code: 'USAGE', status: 2, hint: expect.stringContaining('engine') };
  for (const [require, what] of [
    [() => requireImages(bare), 'making an image'],
    [() => requireRunning(bare), 'a command in its session'],
  ] as const)
    expect(require).toThrow(expect.objectContaining({ ...refused, message: `--on k8s:a does not support: ${what}` }));
  expect(() => requireExec({ name: 'pod' })).toThrow('pod is not a container of an engine');
});

it('a part that a runtime has is returned', () => {
  const [images, running] = [{}, {}] as [NonNullable<Runtime['images']>, NonNullable<Runtime['running']>];
  expect(requireImages({ ...bare, images }).images).toBe(images);
  expect(requireRunning({ ...bare, running })).toBe(running);
});
