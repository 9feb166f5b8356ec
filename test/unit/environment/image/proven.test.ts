import { expect, it } from 'vitest';
import { RunClaudeError } from '../../../../src/core/errors.ts';
import type { Engine } from '../../../../src/core/types/runtime.ts';
import { nameProven } from '../../../../src/environment/image/proven.ts';

/** An engine on which another user attacks an image of the same name: it does not give the name up. */
function sharedEngine(names: string[]): Engine {
  return {
    images: {
      facts: async (name: string) => (name.includes('unproven') ? { id: 'sha256:own' } : undefined),
      name: async (from: string, to: string) => void names.push(`${from} ${to}`),
      remove: async () => {
        throw new RunClaudeError('ENGINE_REFUSED', 'conflict: a container is using its referenced image');
      },
    },
  } as unknown as Engine;
}

const options = { tell: () => undefined, signal: new AbortController().signal };

it('names an image that was attacked, also where another build holds its unproven name', async () => {
  const names: string[] = [];
  await nameProven(sharedEngine(names), 'run-claude:0123', { ...options, prove: async () => undefined });
  expect(names).toEqual(['sha256:own run-claude:0123']);
});

it('reports the attack that got through, and not that name', async () => {
  const prove = () => Promise.reject(new Error('attacked'));
  const refused = nameProven(sharedEngine([]), 'run-claude:0123', { ...options, prove });
  await expect(refused).rejects.toThrow('attacked');
});
