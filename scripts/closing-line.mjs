// Prints the outcome of vitest's JSON reports, together, as one plain line, then each failed test, each skipped one with
// its reason, and the slowest files: what a shorter run would begin with.
import { readFileSync } from 'node:fs';
import path from 'node:path';

const LONGEST_MESSAGE = 1500;
const SLOWEST_FILES = 10;

let [passed, failed] = [0, 0];
const failures = [];
const skipped = [];
/** @type {[file: string, seconds: number][]} */
const files = [];
for (const file of process.argv.slice(2)) {
  const { numPassedTests, numFailedTests, testResults } = JSON.parse(readFileSync(file, 'utf8'));
  passed += numPassedTests;
  failed += numFailedTests;
  for (const { name: testFile, status: fileStatus, message, assertionResults, startTime, endTime } of testResults) {
    files.push([testFile, Math.round((endTime - startTime) / 1000)]);
    // A file that cannot be loaded, or whose hooks fail, has no failed test of its own.
    if (fileStatus === 'failed' && !assertionResults.some(({ status }) => status === 'failed'))
      failures.push(`${testFile}: ${message}`);
    for (const { status, fullName, meta, failureMessages } of assertionResults) {
      if (status === 'passed') continue;
      if (status === 'failed') {
        failures.push(`${testFile}: ${fullName}\n${failureMessages.join('\n').slice(0, LONGEST_MESSAGE)}`);
        continue;
      }
      skipped.push(`${fullName} (${meta?.skipReason ?? 'no reason given'})`);
    }
  }
}
process.stdout.write(`${passed} passed, ${failed} failed, ${skipped.length} skipped\n`);
for (const failure of failures) process.stdout.write(`failed: ${failure}\n`);
for (const name of skipped) process.stdout.write(`skipped: ${name}\n`);
files.sort(([, a], [, b]) => b - a);
const root = path.dirname(import.meta.dirname);
for (const [file, seconds] of files.slice(0, SLOWEST_FILES)) {
  process.stdout.write(`slow: ${seconds} s ${path.relative(root, file)}\n`);
}
