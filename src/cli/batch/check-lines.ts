import { statSync } from 'node:fs';
import { COPY_MODE, RunClaudeError, usageError } from '../../core/errors.ts';
import { probeHost } from '../../core/host/facts.ts';
import { pathIdentity } from '../../core/host/files/true-path.ts';
import type { Policy } from '../../core/types/policy.ts';
import { refuseProject } from '../../session/plan/refuse-project.ts';
import { chosenAgents } from '../context/chosen-agents.ts';
import type { CommandContext } from '../context/context.ts';
import type { CommandLineOfCommand } from '../grammar/parse-command-line.ts';
import { readPolicy } from '../policy/read-policy.ts';
import { type TaskLine, taskLine } from './task-line.ts';
import type { Task } from './tasks/task.ts';

export interface CheckedLine extends TaskLine {
  readonly policy: Policy;
}

/**
 * The sessions of all tasks, checked before any of them starts. `name`: the file in messages.
 *
 * @throws {RunClaudeError} USAGE, with the line, for what no session of a batch can be started with
 */
export async function checkLines(
  tasks: readonly Task[],
  { line: batch, name }: { readonly line: CommandLineOfCommand; readonly name: string },
  context: CommandContext,
): Promise<CheckedLine[]> {
  const agents = await chosenAgents(context.places.configDir, context.env);
  const host = probeHost(process, context.places);
  // Thousands of lines have few projects and few sets of options.
  const policies = new Map<string, Policy>();
  const policyOf = async ({ project, flags }: TaskLine['line']): Promise<Policy> => {
    const key = JSON.stringify([project, flags]);
    const known = policies.get(key);
    if (known !== undefined) return known;
    const read = await readPolicy(project, flags, context);
    refuseProject(read.project.root, host, pathIdentity);
    policies.set(key, read.policy);
    return read.policy;
  };
  const checked: CheckedLine[] = [];
  for (const task of tasks) {
    try {
      if (!isDirectory(task.project))
        throw usageError(`there is no folder ${task.project}`, 'A project is relative to the current directory.');
      const line = taskLine(task, batch, { agents, isDirectory });
      const policy = await policyOf(line.line);
      // In bind mode, sessions side by side would write to the same files.
      if (policy.mode !== 'copy') throw usageError('a task of a batch works on a copy', `Use ${COPY_MODE}.`);
      checked.push({ ...line, policy });
    } catch (error) {
      if (!(error instanceof RunClaudeError)) throw error;
      throw usageError(`${name}, line ${task.line}: ${error.message}`, error.hint);
    }
  }
  return checked;
}

/** False also for what cannot be looked at: a name that is too long, a directory without permission. */
function isDirectory(word: string): boolean {
  try {
    return statSync(word).isDirectory();
  } catch {
    return false;
  }
}
