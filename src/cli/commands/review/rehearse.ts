import { EXIT, usageError } from '../../../core/errors.ts';
import { jsonText } from '../../../core/report/json.ts';
import { auditIfMissing } from '../../../session/end/frozen-review.ts';
import { isNew, REHEARSAL_SECONDS, rehearseSession, tellRehearsal } from '../../../session/outcome/rehearse-session.ts';
import { requireChanges } from '../../../session/record/require-usable.ts';
import { sessionDeps } from '../../../session/stage/deps.ts';
import { type CommandRun, optionValue } from '../../context/context.ts';
import { openEngineOf } from '../../engines/open-engine.ts';
import { readOwnScenes } from '../../policy/read-policy.ts';
import { withSession } from '../../sessions/open-session.ts';

/** `rehearse [ID]`: what usual commands start with a session's changes. Its findings are kept with those of the audit. */
export const rehearseCommand: CommandRun = (line, context) =>
  withSession(line, context, 'rehearse', async (record, user) => {
    requireChanges(record);
    if (record.plan.mode === 'bind')
      throw usageError('a bind session worked on the project itself', 'There is no copy to rehearse on.');
    const seconds = secondsOf(optionValue(line, 'rehearse-time'));
    // A scene that was added since the session started is tried too.
    const scenes = await readOwnScenes(context);
    const { plan } = record;
    const current = { ...record, plan: { ...plan, policy: { ...plan.policy, scenes } } };
    await auditIfMissing(record, user);
    const engine = await openEngineOf(record.plan, context);
    try {
      const rehearsed = await rehearseSession(current, sessionDeps(user, engine, context.env), seconds);
      const { done } = rehearsed;
      if (line.options.has('json')) context.write(jsonText({ ...done, untouched: [...done.untouched] }));
      else tellRehearsal(rehearsed, user.tell);
      return isNew(done.findings) ? EXIT.needsPerson : EXIT.ok;
    } finally {
      await engine.close();
    }
  });

function secondsOf(value: string | undefined): number {
  if (value === undefined) return REHEARSAL_SECONDS;
  const seconds = Number(value);
  if (Number.isInteger(seconds) && seconds >= 2 && seconds <= 3600) return seconds;
  throw usageError(`--rehearse-time: '${value}' is not a number of seconds`, 'Write a number from 2 to 3600.');
}
