import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Plan } from '../../core/types/plan.ts';
import { ChangeJudge } from '../../review/judging/change-judge.ts';
import { basePlace } from '../../workspace/layer/places.ts';
import { storeDir } from '../record/session.ts';

/** Longest piece of work ahead. */
const SLICE_MS = 20;
/** The agent's own start comes first. */
const WARM_UP_DELAY_MS = 1500;
/** Between slices: the warm-up takes a quarter of one processor at most, for about two seconds. */
const WARM_UP_PAUSE_MS = 3 * SLICE_MS;

/**
 * What judges a session's changes: the frozen content in its store, over the project as it was before the session. Its
 * process is not started yet. `workspace`: as in the session's record.
 *
 * @throws {RunClaudeError} WORKSPACE_GONE, RECORD_VERSION where the base cannot be read any more.
 */
export function openSessionJudge(plan: Plan, workspace: unknown): ChangeJudge {
  const { gitCommonDir } = plan.project;
  const gitConfig = gitCommonDir === undefined ? {} : { gitConfig: path.join(gitCommonDir, 'config') };
  return new ChangeJudge({ store: storeDir(plan.sessionDir), base: { ...basePlace(workspace), ...gitConfig } });
}

/** Resolves when the process that judges has loaded its code: run-claude may be replaced on the disk before the audit. */
export async function startJudge(judge: ChangeJudge): Promise<void> {
  // What fails here fails again in the audit.
  await judge.warm(0).catch(() => undefined);
}

/**
 * Prepares the audit in small slices while the agent works, until `end`: see warm-up.ts. Never throws: what fails here
 * fails again in the audit.
 */
export async function warmUpAudit(judge: ChangeJudge, end: AbortSignal): Promise<void> {
  await sleep(WARM_UP_DELAY_MS, undefined, { ref: false });
  try {
    while (!end.aborted && !(await judge.warm(SLICE_MS))) await sleep(WARM_UP_PAUSE_MS, undefined, { ref: false });
  } catch {
    // The agent need not be stopped for this.
  }
}
