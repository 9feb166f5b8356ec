import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { ImageBuild } from '../../../../../src/core/types/engine.ts';
import type { Engine } from '../../../../../src/core/types/runtime.ts';
import { addressPackageLayer, ensurePackageLayer } from '../../../../../src/environment/image/layers/package-layer.ts';

it('addresses a layer by the image below and the packages', () => {
  const addresses = [
    addressPackageLayer('run-claude:1', ['a', 'b']),
    addressPackageLayer('run-claude:2', ['a', 'b']),
    addressPackageLayer('run-claude:1', ['a']),
    addressPackageLayer('run-claude:1', ['ab']),
  ];
  expect(new Set(addresses).size).toBe(4);
  expect(addresses[0]).toMatch(/^run-claude:[0-9a-f]{16}$/);
  expect(addressPackageLayer('run-claude:1', ['a', 'b'])).toBe(addresses[0]);
});

const ensure = (output: string, failure: Error | undefined, prove: () => Promise<void>, isCustom = false) => {
  const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-packages-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const calls: string[] = [];
  const told: string[] = [];
  const args: string[] = [];
  const engine = {
    facts: { arch: 'amd64' },
    images: {
      has: async () => false,
      facts: async () => undefined,
      name: async (from: string, to: string) => void calls.push(`name ${from} ${to}`),
      remove: async (name: string) => void calls.push(`remove ${name}`),
      build: async (_: unknown, request: ImageBuild) => {
        calls.push(`build ${request.tag} ${request.args['PACKAGES']}`);
        args.push(...Object.keys(request.args));
        request.onOutput(output);
        if (failure !== undefined) throw failure;
      },
    },
  } as unknown as Engine;
  const made = ensurePackageLayer(engine, {
    below: 'run-claude:1',
    packages: ['redis', 'ruby'],
    cacheDir: dir,
    rebuild: false,
    env: { HTTPS_PROXY: 'http://user:password@proxy:1' },
    isCustom,
    tell: (event) => void (event.kind === 'message' && told.push(event.text)),
    signal: new AbortController().signal,
    prove,
    exclusive: async (_, work) => work(),
  });
  return { made, calls, told, args };
};

it('gives the image its address only after the attacks', async () => {
  const tag = addressPackageLayer('run-claude:1', ['redis', 'ruby']);
  const unproven = tag.replace(':', '-unproven:');
  const good = ensure('', undefined, async () => undefined);
  expect(await good.made).toBe(tag);
  expect(good.calls).toEqual([`build ${unproven} redis ruby`, `name ${unproven} ${tag}`, `remove ${unproven}`]);
  const bad = ensure('', undefined, async () => Promise.reject(new Error('attacked')));
  await expect(bad.made).rejects.toThrow('attacked');
  expect(bad.calls).toEqual([`build ${unproven} redis ruby`, `remove ${unproven}`]);
});

it('names an unknown package, and shows the end of another failure', async () => {
  const unknown = ensure('x\nrun-claude refuses: there is no package ruby\n', new Error('1'), async () => undefined);
  await expect(unknown.made).rejects.toMatchObject({
    code: 'PACKAGE_UNKNOWN',
    message: expect.stringContaining('ruby'),
  });
  const other = ensure('E: no network\n', new Error('built'), async () => undefined);
  await expect(other.made).rejects.toThrow('built');
  expect(other.told).toContain('E: no network');
});

it("keeps the proxy, which may have a login, from a custom image's programs", async () => {
  const own = ensure('', undefined, async () => undefined);
  await own.made;
  const custom = ensure('', undefined, async () => undefined, true);
  await custom.made;
  expect(own.args.filter((name) => /proxy/i.test(name))).not.toEqual([]);
  expect(custom.args).toEqual(['BELOW', 'PACKAGES']);
});
