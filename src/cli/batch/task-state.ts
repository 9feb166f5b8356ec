import type { SessionRecord } from '../../core/types/session.ts';
import type { ShownTask } from './batch-lines.ts';
import { factsOfSession } from './session-of-task.ts';
import type { TaskLine } from './task-line.ts';
import type { NextStep } from './tasks/next-step.ts';
import type { TaskRecord } from './tasks/task.ts';

/** A task, and what this run of the file knows of it. */
export interface TaskState {
  readonly line: TaskLine;
  readonly step: NextStep;
  /** The newest session of it. */
  session: SessionRecord | undefined;
  record: TaskRecord | undefined;
  /** While it runs. */
  running?: { phase: string; readonly sinceMs: number } | undefined;
}

/** A task as lines and JSON show it. Of a session that still exists, what it is now. */
export function shownTask(state: TaskState, isOneProject: boolean): ShownTask {
  const { line, record, running } = state;
  const { task } = line;
  return {
    line: task.line,
    prompt: task.prompt,
    project: isOneProject ? undefined : task.project,
    record,
    facts: state.session === undefined ? record?.shown : (factsOfSession(state.session) ?? record?.shown),
    running: running && { phase: running.phase, ms: Date.now() - running.sinceMs },
  };
}
