import { expect, it } from 'vitest';
import { CODEX } from '../../../src/agent/codex.ts';
import { GEMINI } from '../../../src/agent/gemini.ts';
import { addressAgentLayer } from '../../../src/image/agent-layer.ts';
import type { AgentPackage } from '../../../src/types/agent-package.ts';
import type { Engine } from '../../../src/types/engine.ts';

const engineOf = (arch: string): Engine => ({ facts: { arch } }) as unknown as Engine;

it('addresses a layer by the image below, the package and its place; refuses an architecture without one', () => {
  const { image } = CODEX;
  if (image === undefined || GEMINI.image === undefined) throw new Error('no package');
  const address = (agent: AgentPackage, below = 'run-claude:1', arch = 'amd64'): string =>
    addressAgentLayer(engineOf(arch), below, agent);
  const changed = (part: object): AgentPackage => {
    const file = image.files['amd64'];
    return { ...image, files: { amd64: { ...file, ...part } } } as AgentPackage;
  };
  const first = address(image);
  expect(first).toMatch(/^run-claude:[0-9a-f]{16}$/);
  expect(address(structuredClone(image))).toBe(first);
  const others = [
    address(GEMINI.image),
    address(image, 'run-claude:2'),
    address(image, 'run-claude:1', 'arm64'),
    address(changed({ version: '1' })),
    address(changed({ integrity: 'sha512-x' })),
    address({ ...image, entry: 'other' }),
  ];
  expect(new Set([first, ...others]).size).toBe(7);
  expect(() => address(image, 'run-claude:1', 's390x')).toThrow('there is no codex for the engine');
});
