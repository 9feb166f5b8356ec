// Prints the outcome of a vitest JSON report as one plain line.
import { readFileSync } from 'node:fs';

const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
process.stdout.write(`${numPassedTests} passed, ${numFailedTests} failed\n`);
