import { GIT_ROOT, leftCommits } from '../../bind/commits.ts';
import { sessionGit } from '../../bind/shield-git.ts';
import { startCollector } from '../../collector/container.ts';
import type { Place } from '../../engine/place.ts';
import { storeDir, updateRecord, writeCollected } from '../../record/session.ts';
import { reviewClaude } from '../../review/claude-items.ts';
import { openContentStore } from '../../store/content.ts';
import { askSuspects } from '../../terminal/review/ask-review.ts';
import { claudeLines } from '../../terminal/review/summary.ts';
import type { ClaudeOutcome } from '../../types/claude-data.ts';
import type { Review } from '../../types/review.ts';
import type { SessionRecord } from '../../types/session.ts';
import type { PersonDeps, SessionDeps } from '../start/deps.ts';
import { homeRoot } from '../start/home.ts';
import { bringClaudeBack, collectClaudeData } from './claude-data.ts';

/** What a bind session left besides the project's files. */
export interface BoundLeft {
  /** With what is known of its commits. */
  readonly record: SessionRecord;
  readonly claude: Review['claude'] | undefined;
}

/**
 * Bind mode has no collector of its own: one reads the agent's home, and its repository, after its end. What it found
 * is on record before anything is shown, without the project's files: those are on the host already.
 */
export async function collectBound(
  record: SessionRecord,
  home: Place,
  deps: SessionDeps,
  secrets: readonly string[],
): Promise<BoundLeft> {
  const { plan, bound } = record;
  const git = { kind: 'bind', source: sessionGit(plan.sessionDir), target: '', readonly: true } as const;
  const collector = await startCollector({
    engine: deps.engine,
    sessionId: plan.sessionId,
    image: plan.image,
    roots: [homeRoot(home), ...(bound === undefined ? [] : [{ name: GIT_ROOT, mount: git }])],
    places: {},
    nonces: {},
  });
  try {
    const known =
      bound === undefined
        ? record
        : // What cannot be listed is kept, for git to read in a container.
          updateRecord(record, { bound: { ...bound, commits: await leftCommits(collector, bound).catch(() => true) } });
    const claude = await collectClaudeData(record, collector, secrets);
    if (claude === undefined) return { record: known, claude: undefined };
    const nothing = { changes: [], problems: [], withheld: [], baseEntries: 0, findings: [] };
    writeCollected(plan.sessionDir, { version: 1, ...nothing, claude });
    return { record: known, claude: reviewClaude(claude) };
  } finally {
    await collector.stop();
  }
}

/** Shows what the session did to Claude's data, asks for each suspect on a terminal, brings the rest back. */
export async function settleBoundHome(
  record: SessionRecord,
  review: Review,
  deps: PersonDeps,
): Promise<readonly ClaudeOutcome[]> {
  for (const { text, severity } of review.claude === undefined ? [] : claudeLines(review.claude)) {
    if (severity === 'info') deps.tell({ kind: 'message', level: 'info', text });
    else deps.tell({ kind: 'finding', severity, text: text.replace(/^WARNING: /, '') });
  }
  const { project, sessionDir } = record.plan;
  const asked = {
    review,
    content: openContentStore(storeDir(sessionDir)),
    project: project.root,
    home: deps.host.home,
  };
  const { screen } = deps;
  const taken =
    screen === undefined || deps.interruption.by() !== undefined
      ? []
      : await askSuspects({ ...asked, screen }, review.claude?.items ?? []);
  return bringClaudeBack(
    record,
    [...taken].map(({ change }) => change.path),
    deps,
  );
}
