import { openContentStore } from '../../core/store/content.ts';
import type { RelPath } from '../../core/text/path.ts';
import type { Review } from '../../core/types/review.ts';
import type { SessionRecord } from '../../core/types/session.ts';
import { heldBack as heldChanges, outcomeCounts } from '../../review/choices/held-back.ts';
import { askSuspects } from '../../review/screen/ask/ask-suspects.ts';
import { commitLines } from '../../review/screen/commit-lines.ts';
import { tellLines } from '../../review/screen/finding-lines.ts';
import { claudeLines } from '../../review/screen/summary.ts';
import { bringClaudeBack } from '../end/claude-data.ts';
import type { AgentEnd } from '../launch/agent-run.ts';
import { reportEnd } from '../outcome/end-status.ts';
import { heldLines } from '../outcome/outcome-words.ts';
import { storeDir, updateRecord } from '../record/session.ts';
import type { UserDeps } from '../stage/deps.ts';
import type { CollectedSession, DecidedSession } from './mode.ts';

/** Shows what the session did to Claude's data, and asks for each suspect file on a terminal. */
export async function decideBound(
  { record, review, heldBack }: CollectedSession,
  _agent: AgentEnd,
  deps: UserDeps,
): Promise<DecidedSession> {
  const reviewed = await review();
  const { claude } = reviewed.review;
  if (claude !== undefined) tellLines(claudeLines(claude), deps.tell);
  const choice = {
    decided: true,
    discard: false,
    chosen: [],
    folders: [],
    left: [],
    claude: await askForClaude(record, reviewed.review, deps),
  };
  return { ...reviewed, record, heldBack, choice };
}

/** Paths of the suspect files that the user accepted. */
async function askForClaude(
  { plan: { project, sessionDir } }: SessionRecord,
  review: Review,
  { screen, interruption, host }: UserDeps,
): Promise<readonly RelPath[]> {
  if (screen === undefined || interruption.by() !== undefined) return [];
  const content = openContentStore(storeDir(sessionDir));
  const question = { review, content, project: project.root, home: host.home, screen };
  const accepted = await askSuspects(question, review.claude?.items ?? []);
  return [...accepted].map(({ change }) => change.path);
}

/** Brings clean and accepted files of Claude's data back. The project's own files need nothing: they are changed. */
export async function applyBound(decided: DecidedSession, deps: UserDeps): Promise<DecidedSession> {
  const claude = await bringClaudeBack(decided.record, decided.choice.claude ?? [], deps);
  const outcome = { changes: [], claude, at: new Date().toISOString() };
  const stage = outcomeCounts(outcome).waiting > 0 ? 'pending' : 'applied';
  return { ...decided, outcome, record: updateRecord(decided.record, { stage, outcome }) };
}

/** Names what can be done next and writes the reports. Returns the exit status. */
export async function endBound(decided: DecidedSession, agent: AgentEnd, deps: UserDeps): Promise<number> {
  const { record, review, choice, heldBack, outcome } = decided;
  if (record.commits === undefined ? record.bound?.commits === true : record.commits.length > 0) {
    const command = `Commits were made inside: run-claude commits ${record.id} --import`;
    for (const text of [...commitLines(record.commits ?? []), command])
      deps.tell({ kind: 'message', level: 'info', text });
  }
  const done = outcome ?? { changes: [], at: '' };
  const held = heldChanges(review, done);
  for (const text of heldLines(held)) deps.tell({ kind: 'message', level: 'info', text });
  const { conflicts } = outcomeCounts(done);
  const state = { conflicts, decided: true, heldBack: heldBack + held.length, waiting: 0 };
  return reportEnd({ record, whole: review, choice, agent, ...state }, deps);
}
