// How many tests passed and failed, by what test runners print last. Pure.

/** @typedef {{ passed: number, failed: number }} Counts */

/**
 * One row for each form of a closing line: `passed` and `failed` are added up over all its lines in the output, and
 * `all` is how many ran. A row counts where one of its expressions matches.
 * @type {readonly { runner: string, passed?: RegExp, failed?: RegExp, all?: RegExp }[]}
 */
const RUNNERS = [
  { runner: 'go', passed: /^\s*--- PASS: /gm, failed: /^\s*--- FAIL: /gm },
  { runner: 'cargo', passed: /^test result: .* (\d+) passed/gm, failed: /^test result: .* (\d+) failed/gm },
  { runner: 'ctest', all: /tests failed out of (\d+)/g, failed: /(\d+) tests failed out of/g },
  { runner: 'minitest', all: /^(\d+) (?:runs|tests), \d+ assertions/gm, failed: /assertions, (\d+) failures/g },
  { runner: 'minitest', failed: /failures, (\d+) errors/g },
  { runner: 'rspec', all: /^(\d+) examples?, /gm, failed: /examples?, (\d+) failures?/g },
  { runner: 'exunit', all: /(\d+) tests?, \d+ failures?/g, failed: /tests?, (\d+) failures?/g },
  { runner: 'phpunit', all: /^OK \((\d+) tests?,/gm },
  {
    runner: 'phpunit',
    all: /^Tests: (\d+), Assertions/gm,
    failed: /(?<=^Tests: \d+, Assert.*)(?:Failures|Errors): (\d+)/gm,
  },
  { runner: 'junit', all: /^OK \((\d+) tests?\)/gm },
  { runner: 'junit', all: /^Tests run: (\d+)/gm, failed: /^Tests run: .*Failures: (\d+)/gm },
  { runner: 'jest', passed: /^Tests:.* (\d+) passed/gm, failed: /^Tests:.* (\d+) failed/gm },
  { runner: 'vitest', passed: /^\s*Tests .* ?\b(\d+) passed/gm, failed: /^\s*Tests .* ?\b(\d+) failed/gm },
  { runner: 'pytest', passed: /^(?:=+ )?(?:\d+ \w+, )*(\d+) passed/gm, failed: /^(?:=+ )?(\d+) failed/gm },
  { runner: 'pytest', failed: /^(?:=+ )?(?:\d+ \w+, )*(\d+) errors?\b.* in [\d.]+s/gm },
  { runner: 'node', passed: /^(?:# |ℹ )pass (\d+)$/gm, failed: /^(?:# |ℹ )fail (\d+)$/gm },
  { runner: 'mocha', passed: /^\s+(\d+) passing/gm, failed: /^\s+(\d+) failing/gm },
  { runner: 'ava', passed: /^\s+✔ /gm, failed: /^\s+✘ \[fail\]/gm },
  { runner: 'uvu', passed: /^\s+Passed:\s+(\d+)$/gm, all: /^\s+Total:\s+(\d+)$/gm },
  { runner: 'playwright', passed: /^\s+(\d+) passed \([\d.]+\w+\)/gm, failed: /^\s+(\d+) failed$/gm },
  { runner: 'marks', passed: /✅/g, failed: /⛔/g },
  { runner: 'tap', passed: /^ok \d+/gm, failed: /^not ok \d+/gm },
];

/** The numbers of a runner's output; undefined where no runner is known by its last lines. @param {string} output @returns {Counts | undefined} */
export function countTests(output) {
  // Colours, progress on one line, and what `pnpm --recursive` writes before each line: `packages/core test: `.
  const text = output
    .replace(/\u001b\[[\d;]*[A-Za-z]/g, '')
    .replaceAll('\r', '\n')
    .replace(/^\S+ test(?::[\w-]+)?: ?/gm, '');
  const names = [...new Set(RUNNERS.map(({ runner }) => runner))];
  for (const name of names) {
    const rows = RUNNERS.filter(({ runner }) => runner === name);
    const sum = (/** @type {'passed' | 'failed' | 'all'} */ key) =>
      rows.reduce((total, row) => total + numbersOf(text, row[key]), 0);
    const [passed, failed, all] = [sum('passed'), sum('failed'), sum('all')];
    if (passed + failed + all === 0) continue;
    // A runner that prints how many ran leaves out one of the others.
    if (all === 0) return { passed, failed };
    return passed > 0 ? { passed, failed: all - passed } : { passed: all - failed, failed };
  }
  return undefined;
}

/** @param {string} text @param {RegExp | undefined} form */
function numbersOf(text, form) {
  if (form === undefined) return 0;
  return [...text.matchAll(form)].reduce((total, [, digits]) => total + (digits === undefined ? 1 : Number(digits)), 0);
}
