import type { FoundLogin } from '../../session/start/find-login.ts';
import type { RunSetup } from '../../session/start/set-up-run.ts';
import type { StartDeps } from '../../session/start/start-session.ts';
import type { Screen } from '../../terminal/screen.ts';
import type { CommandContext } from '../context/context.ts';
import { openEngineOf } from '../engines/open-engine.ts';

/** How long the engine of an earlier session of the project may take to answer: a start waits for it. */
const EARLIER_ANSWER_MS = 10_000;

/** What a start is handed by a command. */
export function startDeps(
  { engine, input, report }: RunSetup,
  { words, findCredential }: FoundLogin,
  context: CommandContext,
  screen: Screen | undefined,
): StartDeps {
  const { env, tell, interruption } = context;
  return {
    engine,
    host: input.host,
    env,
    tell,
    screen,
    interruption,
    findCredential,
    credential: words,
    engineOf: (record) => openEngineOf(record.plan, context, { answerMs: EARLIER_ANSWER_MS }),
    ...(report && { report }),
  };
}
