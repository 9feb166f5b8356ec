import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { openContentStore } from '../../../src/core/store/content.ts';
import { applyChanges } from '../../../src/review/apply/apply-changes.ts';
import { recoverApply } from '../../../src/review/apply/recover.ts';
import { undoApply } from '../../../src/review/apply/undo.ts';
import { adopt } from './crash-scene.ts';
import { readTree } from './tree.ts';

// Applies or undoes in its own process, so that it can be killed, counted or failed by the shim.
// argv: request as JSON, action, outcome; `faults` and `disks`: a copy of the scene, then what to try, as JSON.
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

const undo = async () => undoApply(common());
const done = async (what: string) =>
  (what === 'undo' ? undo() : apply()).then(
    ({ changes }) => ({ failed: changes.filter(({ verdict }) => verdict === 'failed').length }),
    (error: Error) => ({ thrown: error.message }),
  );

/** Every call fails once, one after the other, each time on a fresh scene; recovery follows. */
async function faults(): Promise<unknown[]> {
  const results: unknown[] = [];
  const scene = path.dirname(file);
  const { what, errnos, calls } = JSON.parse(plan) as { what: string; errnos: number[]; calls: number };
  for (const errno of errnos) {
    for (let at = 1; at <= calls; at++) {
      delete process.env['SHIM_DO'];
      rmSync(scene, { recursive: true, force: true });
      execFileSync('cp', ['-a', saved, scene]);
      adopt(request);
      Object.assign(process.env, {
        SHIM_RUN: `${errno} ${at}`,
        SHIM_AT: String(at),
        SHIM_DO: String(errno),
        SHIM_ONCE: '1',
      });
      const result = await done(what);
      delete process.env['SHIM_DO'];
      await recoverApply(common());
      results.push({ errno, at, ...result, tree: [...readTree(request.project)] });
    }
  }
  return results;
}

/** The project on disks of a size, one after the other; only in its own mount namespace. */
async function disks(): Promise<unknown[]> {
  const results: unknown[] = [];
  const scene = path.dirname(file);
  for (const options of JSON.parse(plan) as string[]) {
    rmSync(scene, { recursive: true, force: true });
    execFileSync('cp', ['-a', saved, scene]);
    execFileSync('mount', ['-t', 'tmpfs', '-o', `mode=755,${options}`, 'tmpfs', request.project]);
    try {
      execFileSync('cp', ['-a', `${path.join(saved, 'project')}/.`, request.project]);
      const result = await done('apply');
      await recoverApply(common());
      results.push({ options, ...result, tree: [...readTree(request.project)] });
    } finally {
      execFileSync('umount', [request.project]);
    }
  }
  return results;
}

const ACTIONS: Readonly<Record<string, () => Promise<unknown>>> = {
  apply,
  undo,
  recover: async () => recoverApply(common()),
  faults,
  disks,
};

// The shim counts from here.
if (process.env['SHIM_START'] !== undefined) writeFileSync(process.env['SHIM_START'], '');
const outcome = await ACTIONS[action]?.();
delete process.env['SHIM_SNAP'];
if (outcomeFile !== '') writeFileSync(outcomeFile, JSON.stringify(outcome ?? null));
