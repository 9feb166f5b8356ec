import { isWatchedPath } from '../../audit/files.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { BoundGit, SessionRecord } from '../../core/types/session.ts';
import { askYesNo } from '../../terminal/ask.ts';
import { cleanLine } from '../../terminal/clean.ts';
import { say } from '../../terminal/say.ts';
import { openBind } from '../../workspace/bind/session.ts';
import { type BindSnapshot, readSnapshot } from '../../workspace/bind/snapshot.ts';
import { rememberSecrets } from '../record/secrets/decoys.ts';
import { listSessions, ownerState } from '../record/session.ts';
import type { SessionDeps } from '../stage/deps.ts';
import type { ViewParts } from '../stage/stage.ts';
import { applyBound, decideBound, endBound } from './bind-decision.ts';
import { checkProject } from './check-project.ts';
import { collectBound } from './collect-bound.ts';
import type { SessionMode, SessionView } from './mode.ts';
import { unmaskedQuestion } from './questions.ts';

/**
 * Bind mode: the agent works on the user's own files. `.git` is shielded, and what could run by itself is restored as
 * soon as the agent has ended, by this command or the next one. What is decided about is Claude's data alone.
 */
export const bindMode: SessionMode = {
  async open(plan, deps, parts) {
    warnOfOtherAgents(plan, deps);
    const { tell, earlyScan } = deps;
    const options = { plan, tell, isWatched: isWatchedPath, earlyScan, mayUnmask: askToUnmask(deps) };
    const { mounts, snapshot, guard, secrets, bound } = await openBind(options);
    if (guard !== undefined) parts.cleanup.use(guard, (one) => one[Symbol.dispose]());
    if (secrets.files.length > 0) rememberSecrets(plan.sessionDir, { secrets });
    return { ...viewOf(deps, parts, snapshot, bound), mounts, guard };
  },

  async reopen({ bound }, plan, deps, parts) {
    const snapshot = readSnapshot(plan.sessionDir);
    return snapshot === undefined ? undefined : viewOf(deps, parts, snapshot, bound);
  },

  decide: decideBound,
  apply: applyBound,
  end: endBound,

  uncollectedWarning({ id, project }) {
    return `What the agent left was not checked: run no git in ${project} before 'run-claude status ${id}' has done so.`;
  },
};

function viewOf(deps: SessionDeps, parts: ViewParts, snapshot: BindSnapshot, bound: BoundGit | undefined): SessionView {
  return {
    mounts: [],
    recorded: bound === undefined ? {} : { bound },
    async collect(record, secrets) {
      // First, and without the engine: the project must not stay as the agent left it.
      const project = await checkProject(record, snapshot, deps);
      const outside = await collectBound(record, await parts.roots(), deps, await secrets());
      const review = { ...project.review, ...(outside.claude && { claude: outside.claude }) };
      return {
        record: outside.record,
        heldBack: project.heldBack,
        review: async () => ({ whole: review, review }),
      };
    },
  };
}

function askToUnmask({ screen, interruption }: SessionDeps): Parameters<typeof openBind>[0]['mayUnmask'] {
  return async ({ message }) => {
    if (screen === undefined || interruption.by() !== undefined) return false;
    say(screen, [cleanLine(message)]);
    return askYesNo(screen, unmaskedQuestion(message));
  };
}

/** Two agents on the same files see, and undo, each other's work. */
function warnOfOtherAgents(plan: Plan, { host, tell }: SessionDeps): void {
  const isOther = (one: SessionRecord): boolean =>
    one.id !== plan.sessionId &&
    one.project === plan.project.root &&
    one.plan.mode === 'bind' &&
    one.owner !== undefined &&
    ownerState(one) !== 'ended';
  for (const { id } of listSessions(host.stateDir).sessions.filter(isOther)) {
    tell({ kind: 'message', level: 'warning', text: `session ${id} works on these same files right now` });
  }
}
