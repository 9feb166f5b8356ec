import { usageError } from '../../errors.ts';
import { restoreVariables } from '../../plan/mask-plan.ts';
import { withLayer } from '../../record/layer-lock.ts';
import { lastConversation } from '../../session/end/claude-data.ts';
import { resumePlan } from '../../session/later/resume-plan.ts';
import { resumeSession } from '../../session/run.ts';
import { sessionDeps } from '../../session/start/deps.ts';
import type { CommandRun } from '../context/context.ts';
import { readRecordedFiles } from '../context/env-files.ts';
import { openEngine } from '../context/open-engine.ts';
import { withSession } from '../context/open-session.ts';

/** `resume [ID] [-- words…]`: runs the agent again on the layer of its session. */
export const resumeCommand: CommandRun = (line, context) =>
  withSession(line, context, 'layer', async (record, deps) => {
    if (record.plan.mode === 'bind')
      throw usageError('a bind session works on the project itself and cannot be resumed', 'Start a new session.');
    const { besideSession } = record.plan;
    if (besideSession !== undefined)
      throw usageError(
        `session ${record.id} is a folder of session ${besideSession}`,
        `Resume that one: run-claude resume ${besideSession}`,
      );
    const engine = await openEngine(record.plan.policy.engine, context);
    try {
      const { policy, project } = record.plan;
      const files = readRecordedFiles(policy.envFiles ?? [], project.root);
      const { plan: recorded, missing, missingOfFiles } = restoreVariables(record.plan, context.env, files.values);
      if (missing.length > 0) {
        const text = `Values of --env are not stored. Not set here and therefore left out: ${missing.join(', ')}`;
        deps.tell({ kind: 'message', level: 'warning', text });
      }
      if (missingOfFiles.length > 0) {
        const where = files.absent.length > 0 ? files.absent : (policy.envFiles ?? []);
        const text = `Not in ${where.join(', ')} (--env-file) and therefore left out: ${missingOfFiles.join(', ')}`;
        deps.tell({ kind: 'message', level: 'warning', text });
      }
      const plan = resumePlan(recorded, {
        words: line.rest,
        conversation: lastConversation(record),
        host: deps.host,
        term: context.env['TERM'],
      });
      const all = sessionDeps(deps, engine, context.env);
      return await withLayer(record, 'running its agent again', () => resumeSession(record, plan, all));
    } finally {
      await engine.close();
    }
  });
