import { usageError } from '../../errors.ts';
import { exploreSession } from '../../session/later/explore.ts';
import { sessionDeps } from '../../session/start/deps.ts';
import { connectOurs } from '../context/connect-ours.ts';
import type { CommandRun } from '../context/context.ts';
import { withSession } from '../context/open-session.ts';

/** `explore [ID]`: a shell on what a session left; nothing that happens in it stays. */
export const exploreCommand: CommandRun = (line, context) =>
  withSession(line, context, 'layer', async (record, deps) => {
    if (record.plan.mode === 'bind') throw usageError('a bind session worked on the project itself: look at it there');
    const engine = await connectOurs(record.plan.policy.engine, context);
    try {
      return await exploreSession(record, sessionDeps(deps, engine, context.env));
    } finally {
      await engine.close();
    }
  });
