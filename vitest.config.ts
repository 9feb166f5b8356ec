import { defineConfig } from 'vitest/config';
import { DEFAULTS } from './test/support/time-limits.ts';
import { workerFiles } from './test/support/worker-files.ts';

// unit: no engine. e2e: parts of it, and the command itself, on a real engine and in a real terminal.
// long: too long for every run; `npm run test:long`, no part of `npm test`.
// thorough: some of both with many more cases; `npm run test:thorough`.
const LONG = [
  'test/attacks/mechanisms.test.ts',
  'test/e2e/action.test.ts',
  'test/e2e/batch.test.ts',
  'test/e2e/caches-attacks.test.ts',
  'test/e2e/caches.test.ts',
  'test/e2e/claude-plugin.test.ts',
  'test/e2e/custom-image.test.ts',
  'test/e2e/databases.test.ts',
  'test/e2e/environment.test.ts',
  'test/e2e/file-systems.test.ts',
  'test/e2e/full-disk.test.ts',
  'test/e2e/hand-off.test.ts',
  'test/e2e/hostile-sync-back.test.ts',
  'test/e2e/large-files.test.ts',
  'test/e2e/mcp-login.test.ts',
  'test/e2e/mcp-program.test.ts',
  'test/e2e/mcp-serve.test.ts',
  'test/e2e/named-engines.test.ts',
  'test/e2e/odd-trees.test.ts',
  'test/e2e/other-agents-resume.test.ts',
  'test/e2e/other-agents.test.ts',
  'test/e2e/preview-browser.test.ts',
  'test/e2e/recipes.test.ts',
  'test/e2e/secrets.test.ts',
  'test/e2e/service-image.test.ts',
  'test/e2e/services-attacks.test.ts',
  'test/e2e/services-kept.test.ts',
  'test/e2e/transcripts.test.ts',
  'test/e2e/workspace.test.ts',
  'test/engine/environment/caches/jvm.test.ts',
  'test/engine/environment/caches/tools.test.ts',
  'test/engine/engines/cluster/cluster.test.ts',
  'test/engine/engines/cluster/own-pods.test.ts',
  'test/engine/network/companion/companion.test.ts',
  'test/engine/engines/engine/container.test.ts',
  'test/engine/network/gateway/mcp.test.ts',
  'test/engine/network/gateway/toolchains.test.ts',
  'test/engine/hardening/audit-tools.test.ts',
  'test/engine/hardening/engines.test.ts',
  'test/engine/hardening/podman.test.ts',
  'test/engine/hardening/programs.test.ts',
  'test/engine/hardening/reach.test.ts',
  'test/engine/environment/image/published.test.ts',
  'test/engine/engines/render/cri.test.ts',
  'test/engine/engines/jobs/slurm.test.ts',
  'test/engine/engines/render/oci.test.ts',
  'test/engine/workspace/view/random-sessions.test.ts',
  'test/unit/review/apply/disks.test.ts',
];
/** Part of other runs with fewer names. */
const LARGER = ['test/attacks/hostile-layer.test.ts'];
/** Hundreds of whole sessions; the unit tests judge the same cases without sessions. */
const SESSIONS = ['test/attacks/gate.test.ts'];
/** Part of other runs with few random cases. */
const THOROUGH = ['test/engine/workspace/view/random-sessions.test.ts', 'test/unit/workspace/base/base.test.ts'];

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
