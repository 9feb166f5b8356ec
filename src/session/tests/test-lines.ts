import { durationText } from '../../core/text/when.ts';
import type { TestResult, TestVerdict } from '../../core/types/test.ts';
import { cleanLine } from '../../terminal/clean.ts';

const WORDS: Readonly<Record<TestVerdict, string>> = {
  passed: 'passed',
  failed: "failed, and passes without the session's changes",
  'failed-before': "failed, as it does without the session's changes",
  'timed-out': 'timed out',
  'not-run': 'not run',
};

/** The verdicts on a session's result, for the terminal. Cleaned. */
export function testLines(tests: readonly TestResult[] = []): string[] {
  return tests.flatMap((test) => [
    headLine(test),
    ...test.lines.map((line) => `    ${line}`),
    ...(test.changed.length === 0 ? [] : [`  The session changed what this test runs: ${test.changed.join(', ')}`]),
  ]);
}

/** One line for each test that did not pass, as the reason of the exit status. Cleaned. */
export function failedTestLines(tests: readonly TestResult[] = []): string[] {
  return tests.filter(({ verdict }) => verdict !== 'passed').map(headLine);
}

function headLine({ name, verdict, ms, why }: TestResult): string {
  const time = verdict === 'not-run' ? '' : ` (${durationText(ms)})`;
  // Where it failed for a known reason, the project as it was says nothing.
  const words = verdict === 'failed' && why !== undefined ? 'failed' : WORDS[verdict];
  return `Test ${cleanLine(name)}: ${words}${time}${why === undefined ? '' : `: ${why}`}`;
}
