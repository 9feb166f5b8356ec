import { defineConfig } from 'vitest/config';

// unit: no engine, seconds. engine: a real engine and the built image. e2e: the command itself, in a real terminal.
// attacks: planted attacks, each shown to work without the layer that stops it.
const suite = (name: string, include: string[], timeoutMs: number, parallel: boolean) => ({
  test: {
    name,
    include,
    testTimeout: timeoutMs,
    hookTimeout: timeoutMs * 2,
    fileParallelism: parallel,
    ...(name === 'unit' ? {} : { globalSetup: ['test/setup-engine.ts'] }),
  },
});

export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      suite('unit', ['test/unit/**/*.test.ts'], 120_000, true),
      suite('engine', ['test/engine/**/*.test.ts'], 600_000, false),
      suite('e2e', ['test/e2e/**/*.test.ts'], 900_000, false),
      suite('attacks', ['test/attacks/**/*.test.ts'], 600_000, false),
    ],
  },
});
