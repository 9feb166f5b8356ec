import { usageError } from '../../core/errors.ts';
import { lastConversation } from '../../session/end/claude-data.ts';
import { resumePlan } from '../../session/later/resume-plan.ts';
import { withLayer } from '../../session/record/layer-lock.ts';
import { requireWork } from '../../session/record/require-usable.ts';
import { resumeSession } from '../../session/run.ts';
import { sessionDeps } from '../../session/stage/deps.ts';
import { requireRoom } from '../../session/start/set-up-run.ts';
import type { CommandRun } from '../context/context.ts';
import { openEngineOf } from '../engines/open-engine.ts';
import { requirePrompt } from '../run/asked-run.ts';
import { withSession } from '../sessions/open-session.ts';
import { restoredPlan } from '../sessions/restored-plan.ts';

/** `resume [ID] [-- words…]`: runs the agent again on the layer of its session. */
export const resumeCommand: CommandRun = (line, context) =>
  withSession(line, context, 'resume', async (record, deps) => {
    requireWork(record);
    if (record.plan.mode === 'bind')
      throw usageError('a bind session works on the project itself and cannot be resumed', 'Start a new session.');
    const { besideSession } = record.plan;
    if (besideSession !== undefined)
      throw usageError(
        `session ${record.id} is a folder of session ${besideSession}`,
        `Resume that one: run-claude resume ${besideSession}`,
      );
    const { policy } = record.plan;
    requireRoom(policy, context.places);
    const plan = resumePlan(restoredPlan(record, context), {
      words: line.rest,
      conversation: lastConversation(record),
      host: deps.host,
      term: context.env['TERM'],
    });
    requirePrompt(plan.program, process);
    const engine = await openEngineOf(record.plan, context, { run: { policy, without: [] } });
    try {
      const all = sessionDeps(deps, engine, context.env);
      return await withLayer(record, 'running its agent again', () => resumeSession(record, plan, all));
    } finally {
      await engine.close();
    }
  });
