import { sessionDeps, type UserDeps } from '../../session/stage/deps.ts';
import type { CommandContext } from '../context/context.ts';

/** The same, able to open the engine of a session, which is closed after its use. */
export function withEngineOf(user: UserDeps, context: CommandContext): UserDeps {
  return {
    ...user,
    async withEngine(plan, use) {
      const { openEngineOf } = await import('./open-engine.ts');
      const engine = await openEngineOf(plan, context);
      try {
        return await use(sessionDeps(user, engine, context.env));
      } finally {
        await engine.close();
      }
    },
  };
}
