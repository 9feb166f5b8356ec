import { usageError } from '../../core/errors.ts';
import { exploreSession } from '../../session/later/explore.ts';
import { requireWork } from '../../session/record/require-usable.ts';
import { sessionDeps } from '../../session/stage/deps.ts';
import type { CommandRun } from '../context/context.ts';
import { openEngineOf } from '../engines/open-engine.ts';
import { withSession } from '../sessions/open-session.ts';

/** `explore [ID]`: a shell on the files of a session. Its own changes are discarded. */
export const exploreCommand: CommandRun = (line, context) =>
  withSession(line, context, 'explore', async (record, deps) => {
    requireWork(record);
    if (record.plan.mode === 'bind')
      throw usageError('a bind session worked on the project itself', 'Its changes are in the project.');
    const engine = await openEngineOf(record.plan, context);
    try {
      return await exploreSession(record, sessionDeps(deps, engine, context.env));
    } finally {
      await engine.close();
    }
  });
