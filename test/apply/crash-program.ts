import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { applyChanges } from '../../src/apply/apply-changes.ts';
import { recoverApply } from '../../src/apply/recover.ts';
import { undoApply } from '../../src/apply/undo.ts';
import { openContentStore } from '../../src/store/content.ts';
import { readTree } from './tree.ts';

// Applies or undoes in a process of its own, so that it can be killed, counted or failed by the shim.
// argv: request as JSON, action, outcome; `faults`: a copy of the scene, then errno and first call and step, as JSON.
const [file = '', action = '', outcomeFile = '', saved = '', plan = '[]'] = process.argv.slice(2);
const request = JSON.parse(readFileSync(file, 'utf8'));
const common = () => ({
  project: request.project,
  sessionDir: request.sessionDir,
  store: openContentStore(request.store),
  tell: () => undefined,
  dryRun: false,
});
const apply = async () =>
  applyChanges({
    ...common(),
    choice: request.choice,
    conflict: 'keep',
    audit: () => [],
    acceptMerge: async () => true,
  });

/** Every call fails once, one after the other, each time on a fresh scene; recovery follows. */
async function faults(): Promise<unknown[]> {
  const results: unknown[] = [];
  const scene = path.dirname(file);
  const { errnos, calls, step } = JSON.parse(plan) as { errnos: number[]; calls: number; step: number };
  for (const errno of errnos) {
    for (let at = 1; at <= calls; at += step) {
      delete process.env['SHIM_DO'];
      rmSync(scene, { recursive: true, force: true });
      execFileSync('cp', ['-a', saved, scene]);
      Object.assign(process.env, {
        SHIM_RUN: `${errno} ${at}`,
        SHIM_AT: String(at),
        SHIM_DO: String(errno),
        SHIM_ONCE: '1',
      });
      const result = await apply().then(
        ({ changes }) => ({ failed: changes.filter(({ verdict }) => verdict === 'failed').length }),
        (error: Error) => ({ thrown: error.message }),
      );
      delete process.env['SHIM_DO'];
      await recoverApply(common());
      results.push({ errno, at, ...result, tree: [...readTree(request.project)] });
    }
  }
  return results;
}

// The shim counts from here.
if (process.env['SHIM_START'] !== undefined) writeFileSync(process.env['SHIM_START'], '');
const outcome = action === 'apply' ? await apply() : action === 'undo' ? await undoApply(common()) : await faults();
delete process.env['SHIM_SNAP'];
if (outcomeFile !== '') writeFileSync(outcomeFile, JSON.stringify(outcome ?? null));
