import { defineConfig } from 'vitest/config';
import { workerFiles } from './test/support/worker-files.ts';

// unit: no engine. e2e: parts of it, and the command itself, on a real engine and in a real terminal.
// long: too long for every run; `npm run test:long`, no part of `npm test`.
// thorough: some of both with many more random cases; `npm run test:thorough`.
const LONG = [
  'test/e2e/file-systems.test.ts',
  'test/e2e/hostile-sync-back.test.ts',
  'test/e2e/large-files.test.ts',
  'test/e2e/odd-trees.test.ts',
  'test/e2e/secrets.test.ts',
  'test/e2e/transcripts.test.ts',
  'test/e2e/workspace.test.ts',
  'test/engine/engine/container.test.ts',
  'test/engine/gateway/toolchains.test.ts',
  'test/engine/hardening/audit-tools.test.ts',
  'test/engine/hardening/engines.test.ts',
  'test/engine/hardening/podman.test.ts',
  'test/engine/hardening/programs.test.ts',
  'test/engine/workspace/random-sessions.test.ts',
  'test/unit/apply/disks.test.ts',
];
/** Part of other runs with fewer names. */
const LARGER = ['test/attacks/hostile-layer.test.ts'];
/** Part of other runs with few random cases. */
const THOROUGH = ['test/engine/workspace/random-sessions.test.ts', 'test/unit/base/base.test.ts'];

const plugins = [await workerFiles()];

const suite = (name: string, include: string[], timeoutMs: number, parallel: boolean) => ({
  plugins,
  test: {
    name,
    include,
    exclude: name === 'long' || name === 'thorough' ? [] : LONG,
    testTimeout: timeoutMs,
    hookTimeout: timeoutMs * 2,
    fileParallelism: parallel,
    // A busy machine is slow, not wrong.
    expect: { poll: { timeout: 180_000 } },
    // Nothing here is global: files of one worker share what they load.
    isolate: false,
    env: name === 'thorough' ? { RUN_CLAUDE_THOROUGH: '1' } : name === 'long' ? { RUN_CLAUDE_LONG: '1' } : {},
    ...(name === 'unit' ? {} : { globalSetup: ['test/support/setup-engine.ts'] }),
  },
});

export default defineConfig({
  test: {
    maxWorkers: 2,
    experimental: { fsModuleCache: true },
    projects: [
      suite('unit', ['test/unit/**/*.test.ts'], 1_800_000, true),
      suite('e2e', ['test/{engine,e2e,attacks}/**/*.test.ts'], 1_800_000, true),
      suite('long', [...LONG, ...LARGER], 1_800_000, true),
      suite('thorough', THOROUGH, 1_800_000, true),
    ],
  },
});
