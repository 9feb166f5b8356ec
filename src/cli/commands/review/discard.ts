import { EXIT } from '../../../core/errors.ts';
import { undoableSince } from '../../../review/apply/undo.ts';
import { tellNextPending } from '../../../session/end/next-pending.ts';
import { sessionFacts } from '../../../session/end/report/session-facts.ts';
import { discardSession } from '../../../session/later/discard.ts';
import { needsRecovery } from '../../../session/later/recover-project.ts';
import { requireEnded } from '../../../session/record/require-usable.ts';
import { ask } from '../../../terminal/ask.ts';
import type { CommandRun } from '../../context/context.ts';
import { openEngineOf } from '../../engines/open-engine.ts';
import { withSession } from '../../sessions/open-session.ts';
import { leftText } from '../../sessions/session-lines.ts';
import { discardQuestion } from './questions.ts';

/** `discard [ID]`: on a terminal the user types the whole word; elsewhere it needs --yes. */
export const discardCommand: CommandRun = (line, context) =>
  withSession(line, context, 'discard', async (record, deps) => {
    requireEnded(record);
    if (!line.options.has('yes')) {
      const what = needsRecovery(record)
        ? 'of which nothing is collected and whose agent may still run'
        : leftText(record, sessionFacts(record));
      const isUndoable = undoableSince(record.plan.sessionDir) !== undefined;
      const answer = deps.screen && (await ask(deps.screen, discardQuestion(record.id, what, isUndoable)));
      if (answer?.key !== 'discard') {
        deps.tell({
          kind: 'message',
          level: 'info',
          text: 'Nothing was discarded. With --yes there is no question.',
        });
        return EXIT.undecided;
      }
    }
    await discardSession(record, deps, () => openEngineOf(record.plan, context));
    tellNextPending(record, deps);
    return EXIT.ok;
  });
