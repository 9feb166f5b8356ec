/** How long one test and one hook may take, in milliseconds: a hang fails within it, a slow machine does not. */
export interface TimeLimits {
  readonly testTimeout: number;
  readonly hookTimeout: number;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** By suite. Each is at least five times what the slowest test without an exception takes on two busy cores. */
export const DEFAULTS = {
  // A hook may compile a program.
  unit: { testTimeout: 30 * SECOND, hookTimeout: 2 * MINUTE },
  // One test is whole sessions, each of several containers: up to 50 s. The first hook may build the image.
  e2e: { testTimeout: 5 * MINUTE, hookTimeout: 20 * MINUTE },
  long: { testTimeout: 10 * MINUTE, hookTimeout: 30 * MINUTE },
  // As many random cases as fit.
  thorough: { testTimeout: 30 * MINUTE, hookTimeout: 30 * MINUTE },
} as const satisfies Record<string, TimeLimits>;

interface Exception {
  readonly minutes: number;
  readonly why: string;
}

/** Files with a test that the limit of its suite is too short for. */
export const SLOW: Readonly<Record<string, Exception>> = {
  'test/attacks/gate.test.ts': { minutes: 60, why: 'one session for each of some 350 cases' },
  'test/e2e/environment/services/databases.long.test.ts': { minutes: 30, why: 'builds four images with packages' },
  'test/e2e/environment/setup/environment.long.test.ts': {
    minutes: 30,
    why: 'builds images with packages, one of them with a browser',
  },
  'test/e2e/core/host/programs/planted-programs.test.ts': {
    minutes: 20,
    why: 'every command, with a program of each name in every folder of PATH',
  },
  'test/e2e/cli/first-hour.test.ts': {
    minutes: 10,
    why: 'some twenty commands in one terminal, with a build of the image',
  },
  'test/e2e/review/apply/large-files.long.test.ts': {
    minutes: 30,
    why: 'copies, collects, applies and undoes two gigabytes',
  },
  'test/e2e/environment/services/service-image.long.test.ts': {
    minutes: 30,
    why: 'builds three images and lays the guards over each',
  },
  'test/engine/hardening/audit-tools.long.test.ts': {
    minutes: 30,
    why: 'whole runs of lynis, stress-ng and kernel selftests',
  },
  'test/engine/hardening/foreign.test.ts': { minutes: 10, why: 'builds an image on top of another one' },
  'test/unit/review/apply/crash.test.ts': { minutes: 10, why: 'one killed process for each system call of an apply' },
  'test/unit/review/apply/disk/races.test.ts': {
    minutes: 5,
    why: '10,000 rounds against a process that swaps directories',
  },
  'test/unit/review/apply/disks.long.test.ts': { minutes: 15, why: 'makes and mounts a file system for each test' },
  'test/unit/review/apply/hostile-trees.test.ts': {
    minutes: 5,
    why: 'writes and undoes thousands of files for each case',
  },
  'test/unit/review/apply/power-cut.test.ts': {
    minutes: 5,
    why: 'one simulated power cut for each system call of an apply',
  },
  'test/unit/review/apply/property.test.ts': { minutes: 5, why: '1,000 random projects' },
  'test/unit/architecture/tests.test.ts': { minutes: 3, why: 'reads every file of src/ and test/' },
  'test/unit/audit/fuzz.test.ts': { minutes: 5, why: 'measures every regular expression on long lines' },
  'test/unit/audit/gate.test.ts': { minutes: 5, why: 'some 400 scripts, each in its own project' },
  'test/unit/audit/hostile-files.test.ts': { minutes: 10, why: 'judges some 500 files that are made to be slow' },
  'test/unit/audit/program-endings.test.ts': { minutes: 2, why: 'judges a program of each language under each glob' },
  'test/unit/audit/variants.test.ts': { minutes: 10, why: 'judges some 28,000 variants of attacks' },
  'test/unit/workspace/base/base.test.ts': {
    minutes: 5,
    why: 'random edits of a project, compared with the copy after each',
  },
  'test/unit/workspace/base/refresh/refresh-crash.test.ts': {
    minutes: 5,
    why: 'one killed process for each system call of a refresh',
  },
  'test/unit/workspace/base/shallow-git.test.ts': { minutes: 2, why: 'cuts the history of real repositories' },
  'test/unit/workspace/base/stacked.test.ts': {
    minutes: 5,
    why: 'random edits of a project, compared with the copy after each',
  },
  'test/unit/workspace/base/verify.test.ts': { minutes: 2, why: 'starts one process for each kind of damage' },
  'test/unit/cli/commands/example-workflow.test.ts': { minutes: 2, why: 'builds and runs the whole example' },
  'test/unit/workspace/collector/fuzz.test.ts': { minutes: 10, why: '10,000 damaged answers and requests' },
  'test/unit/workspace/collector/hostile.test.ts': {
    minutes: 10,
    why: 'swaps a directory for a link until both were seen',
  },
  'test/unit/review/commits/audit-commit-range.test.ts': {
    minutes: 5,
    why: 'audits a branch with one planted commit for each rule',
  },
  'test/unit/review/commits/import-commits.test.ts': { minutes: 2, why: 'starts git some twenty times in each test' },
  'test/unit/network/gateway/attacks.test.ts': { minutes: 5, why: 'waits for limits of time that the gateway has' },
  'test/unit/network/gateway/bypass.test.ts': { minutes: 5, why: 'one connection for each of some 160 attempts' },
  'test/unit/network/gateway/resolver.test.ts': { minutes: 5, why: 'waits for limits of time that the gateway has' },
  'test/unit/network/gateway/streams.test.ts': { minutes: 2, why: 'waits for limits of time that the gateway has' },
  'test/unit/review/judging/change-judge.test.ts': {
    minutes: 2,
    why: 'ends the process that judges, up to sixteen times',
  },
  'test/unit/network/gateway/ways-out.test.ts': { minutes: 5, why: 'waits for limits of time that the gateway has' },
  'test/unit/core/report/report.test.ts': {
    minutes: 2,
    why: 'a report of 25,000 findings, checked against its schema',
  },
  'test/unit/review/choices/nothing-lost.test.ts': { minutes: 5, why: '400 random sessions, reviewed and applied' },
  'test/unit/workspace/scan/walk.test.ts': { minutes: 2, why: 'walks a project of many thousand files' },
  'test/unit/workspace/view/live.test.ts': { minutes: 2, why: 'a project of 50,000 files' },
};

/** @param file path from the root of the repository */
export function limitsOf(file: string, defaults: TimeLimits): TimeLimits {
  const exception = SLOW[file];
  if (exception === undefined) return defaults;
  const testTimeout = Math.max(defaults.testTimeout, exception.minutes * MINUTE);
  return { testTimeout, hookTimeout: Math.max(defaults.hookTimeout, testTimeout) };
}
