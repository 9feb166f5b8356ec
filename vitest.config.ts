import { readdirSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { DEFAULTS } from './test/support/time-limits.ts';
import { workerFiles } from './test/support/worker-files.ts';

// unit: no engine. e2e: parts of it, and the command itself, on a real engine and in a real terminal.
// long: too long for every run, named `*.long.test.ts`; `npm run test:long`, no part of `npm test`.
// thorough: some of both with many more cases; `npm run test:thorough`.
const LONG = ['test/**/*.long.test.ts'];
/** Part of other runs with fewer rows or names. */
const LARGER = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .map((name) => `test/${name}`)
  .filter((name) => name.endsWith('.test.ts') && /\bfirstRows\(|RUN_CLAUDE_LONG/.test(readFileSync(name, 'utf8')));
/** Hundreds of whole sessions; the unit tests judge the same cases without sessions. */
const SESSIONS = ['test/attacks/gate.test.ts'];
/** Part of other runs with few random cases. */
const THOROUGH = ['test/engine/workspace/view/random-sessions.long.test.ts', 'test/unit/workspace/base/base.test.ts'];

type Suite = keyof typeof DEFAULTS;

/** How long a test waits for one thing: less than the test may take, so that the failure names what was missing. */
const waitMs = (name: Suite): number => DEFAULTS[name].testTimeout * 0.6;

const plugins = [await workerFiles()];

const suite = (name: Suite, include: string[]) => ({
  plugins,
  test: {
    name,
    include,
    exclude: name === 'long' || name === 'thorough' ? [] : [...LONG, ...SESSIONS],
    ...DEFAULTS[name],
    // The exceptions are in test/support/time-limits.ts.
    provide: { timeLimits: DEFAULTS[name] },
    setupFiles: ['test/support/set-time-limits.ts'],
    expect: { poll: { timeout: waitMs(name) } },
    // Nothing here is global: files of one worker share what they load.
    isolate: false,
    env: {
      TEST_WAIT_MS: String(waitMs(name)),
      ...(name === 'thorough' ? { RUN_CLAUDE_THOROUGH: '1' } : name === 'long' ? { RUN_CLAUDE_LONG: '1' } : {}),
    },
    ...(name === 'unit' ? {} : { globalSetup: ['test/support/setup-engine.ts'] }),
  },
});

export default defineConfig({
  test: {
    maxWorkers: 2,
    experimental: { fsModuleCache: true },
    projects: [
      suite('unit', ['test/unit/**/*.test.ts']),
      suite('e2e', ['test/{engine,e2e,attacks}/**/*.test.ts']),
      suite('long', [...LONG, ...LARGER]),
      suite('thorough', [...THOROUGH, ...SESSIONS]),
    ],
  },
});
