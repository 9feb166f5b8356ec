import { expect, it } from 'vitest';
import { askedTests, refuseTests } from '../../../../src/session/plan/asked-tests.ts';
import { planWith } from '../../../support/session-record.ts';

const unit = { name: 'unit', command: 'npm test', timeoutMs: 1000, needsNetwork: true };
const policy = (parts: NonNullable<Parameters<typeof planWith>[0]['policy']>) => planWith({ policy: parts }).policy;

it('runs the tests of the configuration, then those of --test, each command once', () => {
  expect(askedTests(policy({ tests: [unit], test: ['npm test', 'make check'] }))).toEqual([
    unit,
    { name: 'make check', command: 'make check', timeoutMs: 600_000, needsNetwork: false },
  ]);
  expect(askedTests(policy({}))).toEqual([]);
});

it('refuses tests where there is no result apart from the project, and a requirement without a test', () => {
  expect(() => refuseTests(policy({ mode: 'bind', test: ['make'] }))).toThrow(/bind mode/);
  expect(() => refuseTests(policy({ mode: 'bind', requireTests: true, tests: [unit] }))).toThrow(/bind mode/);
  expect(() => refuseTests(policy({ requireTests: true }))).toThrow(/there is no test/);
  // Those of a configuration are for copies.
  expect(() => refuseTests(policy({ mode: 'bind', tests: [unit] }))).not.toThrow();
  expect(() => refuseTests(policy({ requireTests: true, tests: [unit] }))).not.toThrow();
});
