import { isWatchedPath } from '../../audit/files.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { BoundGit, SessionRecord } from '../../core/types/session.ts';
import { openBind } from '../../workspace/bind/session.ts';
import { type BindSnapshot, readSnapshot } from '../../workspace/bind/snapshot.ts';
import { listSessions, ownerState } from '../record/session.ts';
import type { SessionDeps } from '../stage/deps.ts';
import type { ViewParts } from '../stage/stage.ts';
import { applyBound, decideBound, endBound } from './bind-decision.ts';
import { checkProject } from './check-project.ts';
import { collectBound } from './collect-bound.ts';
import type { SessionMode, SessionView } from './mode.ts';

/**
 * Bind mode: the agent works on the user's own files. `.git` is shielded, and what could run by itself is restored as
 * soon as the agent has ended, by this command or the next one. What is decided about is Claude's data alone.
 */
export const bindMode: SessionMode = {
  async open(plan, deps, parts) {
    warnOfOtherAgents(plan, deps);
    const { mounts, snapshot, bound } = await openBind({ plan, tell: deps.tell, isWatched: isWatchedPath });
    return { ...viewOf(deps, parts, snapshot, bound), mounts };
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
