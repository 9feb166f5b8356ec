import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { CODEX } from '../../../../../src/agents/codex.ts';
import { GEMINI } from '../../../../../src/agents/gemini.ts';
import type { AgentPackage } from '../../../../../src/core/types/agent/agent-package.ts';
import type { ImageBuild } from '../../../../../src/core/types/engine.ts';
import type { Engine } from '../../../../../src/core/types/runtime.ts';
import { addressAgentLayer, ensureAgentLayer } from '../../../../../src/environment/image/layers/agent-layer.ts';

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

it('downloads an agent under its own name, and adds it without the network', async () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-layer-'));
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(dir, { recursive: true, force: true });
  });
  // Any package is these bytes.
  writeFileSync(path.join(dir, 'npm'), '#!/bin/sh\nprintf package >x.tgz\n', { mode: 0o755 });
  vi.stubEnv('PATH', `${dir}:${process.env['PATH']}`);
  const builds: ImageBuild[] = [];
  const engine = {
    facts: { arch: 'amd64' },
    images: {
      has: async () => false,
      build: async (_: unknown, request: ImageBuild) => {
        builds.push(request);
        throw new Error('built');
      },
    },
  } as unknown as Engine;
  const told: unknown[] = [];
  const add = (integrity: string): Promise<string> =>
    ensureAgentLayer(engine, {
      cacheDir: dir,
      rebuild: false,
      tell: (event) => void told.push(event),
      signal: new AbortController().signal,
      prove: async () => undefined,
      exclusive: async (_, work) => work(),
      below: 'run-claude:1',
      agent: { program: 'codex', files: { amd64: { name: 'codex-cli', version: '1.0.0', integrity } }, entry: 'x' },
    });
  const sha512 = createHash('sha512').update('package').digest('base64');
  await expect(add(`sha512-${sha512}`)).rejects.toThrow('built');
  expect(builds).toMatchObject([{ connected: false }]);
  expect(told).toContainEqual(expect.objectContaining({ kind: 'progress', what: 'Downloading codex' }));
  expect(JSON.stringify(told)).not.toContain('Claude');
  await expect(add('sha512-other')).rejects.toMatchObject({
    code: 'PACKAGE_TAMPERED',
    hint: 'The registry served other bytes than this version of run-claude names; nothing of it was used.',
  });
});
