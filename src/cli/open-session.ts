import { realpathSync } from 'node:fs';
import type { PersonDeps } from '../session/deps.ts';
import { probeHost } from '../session/probe.ts';
import { findSession } from '../session/record.ts';
import { recoverSession } from '../session/recover.ts';
import { needsRecovery } from '../session/recover-earlier.ts';
import { finishApply } from '../session/settle.ts';
import type { SessionRecord } from '../types/session.ts';
import { connectOurs } from './connect-ours.ts';
import type { CommandContext } from './context.ts';
import { openScreen } from './open-screen.ts';
import type { CommandLineOfCommand } from './parse-command-line.ts';

/**
 * The session that a command means, brought to where it can be looked at: one whose command was killed is collected
 * first (which needs the engine), a cut-off apply is finished. Then `body` runs with it.
 */
export async function withSession<T>(
  line: CommandLineOfCommand,
  context: CommandContext,
  body: (record: SessionRecord, deps: PersonDeps) => Promise<T> | T,
): Promise<T> {
  const { env, places, tell, interruption } = context;
  let record = findSession(places.stateDir, line.words[0], realpathSync(context.cwd));
  const deps: PersonDeps = {
    host: probeHost(process, places),
    tell,
    screen: openScreen(process, env, interruption),
    interruption,
  };
  if (needsRecovery(record)) {
    const engine = await connectOurs(record.plan.policy.engine, context);
    try {
      record = await recoverSession(record, { ...deps, engine, env });
    } finally {
      await engine.close();
    }
  }
  await finishApply(record, deps);
  return body(record, deps);
}
