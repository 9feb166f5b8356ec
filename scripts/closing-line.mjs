// Prints the outcome of vitest's JSON reports, together, as one plain line, then each skipped test with its reason.
import { readFileSync } from 'node:fs';

let [passed, failed] = [0, 0];
const skipped = [];
for (const file of process.argv.slice(2)) {
  const { numPassedTests, numFailedTests, testResults } = JSON.parse(readFileSync(file, 'utf8'));
  passed += numPassedTests;
  failed += numFailedTests;
  for (const { assertionResults } of testResults) {
    for (const { status, fullName, meta } of assertionResults) {
      if (status === 'passed' || status === 'failed') continue;
      skipped.push(`${fullName} (${meta?.skipReason ?? 'no reason given'})`);
    }
  }
}
process.stdout.write(`${passed} passed, ${failed} failed, ${skipped.length} skipped\n`);
for (const name of skipped) process.stdout.write(`skipped: ${name}\n`);
