import { auditChanges } from '../audit/audit.ts';
import { buildReview } from '../review/build-review.ts';
import { outcomeCounts } from '../review/policy.ts';
import { askLine } from '../terminal/ask.ts';
import { cleanLine } from '../terminal/clean.ts';
import { findingLine } from '../terminal/summary.ts';
import type { Change, ContentReader } from '../types/entry.ts';
import type { Finding } from '../types/finding.ts';
import type { Plan } from '../types/plan.ts';
import type { Policy } from '../types/policy.ts';
import { mergedChange } from './apply-session.ts';
import { closeBind, openBind } from './bind.ts';
import { collectBoundHome, settleBoundHome } from './bind-claude.ts';
import { claudeHeldBack } from './claude-data.ts';
import type { SessionDeps } from './deps.ts';
import { exitStatus } from './exit-status.ts';
import { launchWithCredential } from './launch.ts';
import { prepareImage } from './prepare-image.ts';
import { createRecord, updateRecord } from './record.ts';
import { openScope } from './scope.ts';
import { stage } from './stage.ts';
import { reaches, sessionReport, writeOwnReport } from './write-report.ts';

/** A session on the person's own files: `.git` is shielded, what runs by itself is put right at the end. */
export async function runBind(plan: Plan, deps: SessionDeps): Promise<number> {
  let record = createRecord(plan);
  const scope = openScope(deps.tell);
  const { tell } = deps;
  try {
    await prepareImage(plan, deps);
    const staged = await stage(plan, deps, scope, () =>
      openBind({ plan, tell, suspect: (path) => isSuspectPath(path, plan.policy) }),
    );
    const agent = scope.use(await deps.engine.create(staged.agent), (container) => container.remove());
    record = updateRecord(record, { stage: 'running' });
    const ended = await launchWithCredential(agent, undefined, plan, deps, staged);
    await agent.remove();
    tell({ kind: 'message', level: 'info', text: 'Session ended. Checking what it left in the project...' });
    const outcome = await closeBind({
      plan,
      snapshot: staged.workspace.snapshot,
      tell,
      ask: askToRestore(deps),
      audit: (changes, store) => auditBound(changes, store, plan.policy),
    });
    for (const finding of outcome.findings) {
      const { text, severity } = findingLine(finding);
      if (severity !== 'info') tell({ kind: 'finding', severity, text: text.replace(/^WARNING: /, '') });
    }
    const claude = await collectBoundHome(record, staged.home, deps, staged.credential?.inside() ?? []);
    const interruptedBy = deps.interruption.by();
    const review = {
      ...buildReview({
        collected: {
          changes: outcome.changes,
          problems: [],
          withheld: [],
          baseEntries: staged.workspace.snapshot.entries.size,
        },
        findings: outcome.findings,
        allowSuspect: plan.policy.allowSuspect,
        includeIgnored: true,
      }),
      ...(claude && { claude }),
    };
    const back = await settleBoundHome(record, review, deps);
    const counts = outcomeCounts({ changes: [], claude: back, at: '' });
    record = updateRecord(record, {
      stage: counts.waiting > 0 ? 'pending' : 'applied',
      agentStatus: ended.status,
      stoppedBecause: ended.stopped,
      outcome: { changes: [], claude: back, at: new Date().toISOString() },
    });
    const status = exitStatus({
      ...(interruptedBy === undefined ? {} : { interruptedBy }),
      limited: ended.stopped !== undefined && interruptedBy === undefined,
      conflicts: counts.conflicts,
      decided: true,
      heldBack: outcome.heldBack + counts.heldBack + claudeHeldBack(review),
      failOn: reaches(plan.policy.failOn, review),
      waiting: 0,
      agent: ended.status,
    });
    const report = sessionReport({ record, review, choice: { decided: true, discard: false }, exitStatus: status });
    writeOwnReport(report, plan.sessionDir);
    deps.report?.write(report);
    return status;
  } catch (error) {
    record = updateRecord(record, { stage: 'failed' });
    throw error;
  } finally {
    await scope.close();
    updateRecord(record, { owner: undefined });
  }
}

/** Whether any change of this path, whatever its content, is something that a person must see. */
function isSuspectPath(path: string, policy: Policy): boolean {
  const change = mergedChange(path as Change['path'], Buffer.from('a'), Buffer.from('b'));
  const findings = auditChanges({
    changes: [change],
    content: (digest) => Buffer.from(digest),
    userRules: policy.auditRules,
    severities: policy.auditSeverities,
  });
  return findings.some(({ severity }) => severity !== 'note');
}

async function auditBound(
  changes: readonly Change[],
  store: ContentReader,
  policy: Policy,
): Promise<readonly Finding[]> {
  const contents = new Map<string, Buffer>();
  for (const { before, after } of changes) {
    for (const digest of [before?.digest, after?.digest]) {
      if (digest !== undefined && !contents.has(digest)) contents.set(digest, await store.read(digest));
    }
  }
  return auditChanges({
    changes,
    content: (digest) => contents.get(digest),
    userRules: policy.auditRules,
    severities: policy.auditSeverities,
  });
}

function askToRestore({ screen }: SessionDeps): Parameters<typeof closeBind>[0]['ask'] {
  if (screen === undefined) return undefined;
  return async (troubles) => {
    for (const { path } of troubles) screen.stderr.write(`[sandbox] git could run: ${cleanLine(path)}\n`);
    const answer = await askLine(screen, '[sandbox] Put these right now? [Y/n]:');
    return answer === undefined || !/^n(o)?$/i.test(answer.trim());
  };
}
