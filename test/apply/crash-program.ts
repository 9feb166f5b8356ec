import { readFileSync, writeFileSync } from 'node:fs';
import { applyChanges } from '../../src/apply/apply-changes.ts';
import { recoverApply } from '../../src/apply/recover.ts';
import { undoApply } from '../../src/apply/undo.ts';
import { openContentStore } from '../../src/store/content.ts';

// Applies, undoes or recovers in a process of its own, so that it can be killed. argv: request as JSON, action, outcome.
const [file = '', action = '', outcomeFile = ''] = process.argv.slice(2);
const request = JSON.parse(readFileSync(file, 'utf8'));
const common = {
  project: request.project,
  sessionDir: request.sessionDir,
  store: openContentStore(request.store),
  tell: () => undefined,
  dryRun: false,
};
// The shim counts from here.
if (process.env['SHIM_START'] !== undefined) writeFileSync(process.env['SHIM_START'], '');
const apply = () =>
  applyChanges({ ...common, choice: request.choice, conflict: 'keep', audit: () => [], acceptMerge: async () => true });
const outcome =
  action === 'apply' ? await apply() : action === 'undo' ? await undoApply(common) : await recoverApply(common);
if (outcomeFile !== '') writeFileSync(outcomeFile, JSON.stringify(outcome ?? null));
