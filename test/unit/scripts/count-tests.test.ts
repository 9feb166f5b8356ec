import { expect, it } from 'vitest';
import { countTests } from '../../../scripts/count-tests.mjs';

it.each([
  ['node', '# tests 5\n# pass 3\n# fail 2\n', 3, 2],
  ['mocha', '  12 passing (3s)\n  1 failing\n', 12, 1],
  ['vitest', ' Test Files  1 failed | 1 passed (2)\n      Tests  1 failed | 40 passed | 2 skipped (43)\n', 40, 1],
  [
    'several vitest runs',
    '      Tests  4 passed (4)\n\u001b[2m      Tests \u001b[22m \u001b[32m3 passed\u001b[39m (3)\n',
    7,
    0,
  ],
  [
    'vitest in packages of pnpm',
    'packages/core test:       Tests  4 passed (4)\n\u001b[35mpackages/ui\u001b[39m \u001b[36mtest:unit\u001b[39m:       Tests  1 failed | 3 passed (4)\n',
    7,
    1,
  ],
  ['jest', 'Tests:       1 failed, 2 skipped, 9 passed, 12 total\n', 9, 1],
  ['ava', '  ✔ one (2ms)\n  ✔ two\n  ✘ [fail]: three\n  1 test failed\n', 2, 1],
  ['uvu', '  Total:     10\n  Passed:    9\n  Skipped:   0\n', 9, 1],
  ['pytest', '....F\n1 failed, 4 passed, 1 warning in 0.12s\n', 4, 1],
  ['pytest with errors', '=== 2 failed, 4 passed, 3 errors in 0.12s ===\n', 4, 5],
  ['pytest, all passed', '4 passed in 0.12s\n', 4, 0],
  ['go', '--- PASS: TestA (0.00s)\n    --- FAIL: TestB/x (0.00s)\n--- FAIL: TestB (0.00s)\n', 1, 2],
  ['cargo', 'test result: ok. 8 passed; 0 failed;\ntest result: FAILED. 2 passed; 1 failed;\n', 10, 1],
  ['ctest', '95% tests passed, 1 tests failed out of 20\n', 19, 1],
  ['minitest', '10 runs, 20 assertions, 1 failures, 2 errors, 0 skips\n', 7, 3],
  ['test-unit', '10 tests, 20 assertions, 1 failures, 0 errors, 0 pendings\n', 9, 1],
  ['rspec', '10 examples, 1 failure\n', 9, 1],
  ['exunit', '2 doctests, 8 tests, 1 failure\n', 7, 1],
  ['phpunit', 'OK (10 tests, 20 assertions)\n', 10, 0],
  ['phpunit with failures', 'Tests: 10, Assertions: 20, Errors: 1, Failures: 2.\n', 7, 3],
  ['junit', 'OK (10 tests)\n', 10, 0],
  ['junit with failures', 'Tests run: 10,  Failures: 2\n', 8, 2],
  ['playwright', '  1 failed\n    [chrome] › a.js\n  2 flaky\n  10 passed (1.2m)\n', 10, 1],
  ['a runner that prints marks', '✅✅✅\n⛔️ one at line 3 failed\n', 3, 1],
  ['tap', 'ok 1 - a\nnot ok 2 - b\nok 3\n', 2, 1],
])('counts the tests of %s', (_name, output, passed, failed) => {
  expect(countTests(output)).toEqual({ passed, failed });
});

it('knows no number where no runner printed one', () => {
  expect(countTests('all good\n')).toBeUndefined();
});
