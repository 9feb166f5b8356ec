import { homeAgent } from '../../agents/agents.ts';
import { RunClaudeError } from '../../core/errors.ts';
import { type ProcessView, probeHost } from '../../core/host/facts.ts';
import { requireOutside } from '../../core/host/programs/trusted-start.ts';
import { pathIdentity } from '../../core/host/true-path.ts';
import type { Policy } from '../../core/types/policy.ts';
import { refuseProject } from '../../session/plan/refuse-project.ts';
import { isFirstStart } from '../../session/record/start-answers.ts';
import { ask, type Screen } from '../../terminal/ask.ts';
import { cleanLine } from '../../terminal/clean.ts';
import type { CommandContext } from '../context/context.ts';
import type { RunLine } from '../grammar/parse-command-line.ts';
import { changeConfig, configFileOf } from '../policy/change-config.ts';
import { type ProjectPolicy, readPolicy } from '../policy/read-policy.ts';
import { modeQuestion } from './questions.ts';
import { refuseContradictions } from './refuse-contradictions.ts';

/**
 * The policy of a session. At the first start of a project on a terminal, where nothing chooses the mode, the user is asked
 * for it, and the answer is kept in the user's configuration. Undefined where the user ended the question.
 *
 * @throws {RunClaudeError} as readPolicy, and USAGE where no session could start whatever the answer is.
 */
export async function policyWithMode(
  line: RunLine,
  context: CommandContext,
  process: ProcessView,
  screen: Screen | undefined,
): Promise<ProjectPolicy | undefined> {
  const isAttended = screen !== undefined;
  const merged = await readPolicy(line.project, line.flags, context, { isAttended });
  const { project, origins, policy } = merged;
  const isOpen = line.action === 'run' && !policy.yes && !origins.has('mode');
  if (screen === undefined || !isOpen || !isFirstStart(project.root, context.places.stateDir)) return merged;
  const host = probeHost(process, context.places);
  refuseProject(project.root, host, pathIdentity);
  refuseContradictions(merged, line);
  // The answer is written to a file that no agent may reach.
  requireOutside([project.root], 'copy', { ...host, env: context.env });
  const mode = await askMode(line, context, screen);
  context.interruption.signal.throwIfAborted();
  if (mode === undefined) {
    context.tell({ kind: 'message', level: 'info', text: 'The session was not started.' });
    return undefined;
  }
  await keepMode(project.root, mode, context);
  return readPolicy(line.project, [...line.flags, { flag: 'your answer', setting: 'mode', value: mode }], context, {
    isAttended,
  });
}

async function askMode(line: RunLine, context: CommandContext, screen: Screen): Promise<Policy['mode'] | undefined> {
  const name = line.program.kind === 'shell' ? 'the shell' : homeAgent(line.program).title;
  const lines = [
    `Nothing is chosen yet for this project: where does ${name} work?`,
    '  c  on a copy: nothing reaches your files before you have seen it and agreed',
    '  o  on your own files: each edit is in your project at once, and you watch it',
  ];
  for (const text of lines) context.tell({ kind: 'message', level: 'info', text });
  const answer = await ask(screen, modeQuestion(cleanLine(configFileOf(context))));
  return answer === undefined ? undefined : answer.key === 'c' ? 'copy' : 'bind';
}

/** A configuration that cannot be written, for example one that a package manager makes, does not stop the session. */
async function keepMode(root: string, mode: Policy['mode'], context: CommandContext): Promise<void> {
  const { tell } = context;
  // Few starts write the file, or read one.
  const { withProjectMode } = await import('../../core/config/project-table.ts');
  try {
    await changeConfig(context, (text, file) => withProjectMode(text, root, mode, file));
    const text = `Kept for this project in ${configFileOf(context)}: mode = "${mode}". For one session: --copy or --bind.`;
    tell({ kind: 'message', level: 'info', text });
  } catch (error) {
    if (!(error instanceof RunClaudeError)) throw error;
    const text = `the answer is not kept: ${error.message}`;
    tell({ kind: 'message', level: 'warning', text });
  }
}
