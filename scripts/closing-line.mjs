// Prints the outcome of vitest's JSON reports, together, as one plain line.
import { readFileSync } from 'node:fs';

let [passed, failed] = [0, 0];
for (const file of process.argv.slice(2)) {
  const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(file, 'utf8'));
  passed += numPassedTests;
  failed += numFailedTests;
}
process.stdout.write(`${passed} passed, ${failed} failed\n`);
