// npm run check: every script of package.json that begins with `check:`, in that order. A failed step does not stop the
// next one; the last line names the steps that failed. `npm run check:NAME` runs one of them.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

const PREFIX = 'check:';

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
// As npm does, without its start for each step.
const env = { ...process.env, PATH: `${path.resolve('node_modules/.bin')}:${process.env.PATH}` };
const steps = Object.keys(scripts).filter((name) => name.startsWith(PREFIX));
const failed = steps.filter((step) => {
  const started = Date.now();
  const { status } = spawnSync('sh', ['-c', scripts[step]], { stdio: 'inherit', env });
  const seconds = Math.round((Date.now() - started) / 1000);
  process.stdout.write(`[check] ${step.slice(PREFIX.length)}: ${status === 0 ? 'passed' : 'FAILED'} (${seconds} s)\n`);
  return status !== 0;
});
if (failed.length > 0) {
  process.stdout.write(`[check] Failed: ${failed.map((step) => `npm run ${step}`).join(', ')}\n`);
  process.exitCode = 1;
}
