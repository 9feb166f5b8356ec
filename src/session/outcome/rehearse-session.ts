import { Interrupted, RunClaudeError } from '../../core/errors.ts';
import type { Tell } from '../../core/types/event.ts';
import { type Finding, SEVERITY_RANK } from '../../core/types/finding.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { SessionRecord } from '../../core/types/session.ts';
import { STRATEGIES } from '../../core/types/strategy.ts';
import { removeContainers } from '../../engines/engine/containers/remove-containers.ts';
import type { Rehearsal } from '../../rehearsal/run/rehearse.ts';
import { isRehearsed } from '../../review/choices/findings.ts';
import { findingLines, tellLines } from '../../review/screen/finding-lines.ts';
import { cleanLine } from '../../terminal/clean.ts';
import { withLayer } from '../record/layer-lock.ts';
import { readSecretFiles } from '../record/secrets/decoys.ts';
import { isLayerKept, readCollected, writeCollected } from '../record/session.ts';
import type { SessionDeps, UserDeps } from '../stage/deps.ts';
import { prepareImage } from '../stage/prepare-image.ts';

/** Seconds of a rehearsal, for both sides together. */
export const REHEARSAL_SECONDS = 120;

export interface RehearsedSession {
  readonly done: Rehearsal;
  /** The audit's findings of files that the rehearsal has findings of. */
  readonly joined: readonly Finding[];
}

/**
 * Rehearses the changes of a session, and keeps what is found with the findings of its audit, in place of what an earlier
 * rehearsal found.
 *
 * @throws {RunClaudeError} what withLayer, prepareImage and rehearse throw; the signal's reason
 */
export async function rehearseSession(
  record: SessionRecord,
  deps: SessionDeps,
  seconds = REHEARSAL_SECONDS,
): Promise<RehearsedSession> {
  const { plan, workspace } = record;
  const { engine, tell, interruption } = deps;
  // Most commands need none of it.
  const { rehearse } = await import('../../rehearsal/run/rehearse.ts');
  const done = await withLayer(record, 'rehearsing it', async () => {
    await prepareImage(plan, deps);
    // Of a command that was killed: it would still use the layer.
    await removeContainers(engine, record.id);
    const text = `Rehearsing session ${record.id}: usual commands, without and with its changes, in ${seconds} s at most...`;
    tell({ kind: 'message', level: 'info', text });
    const { changes, findings } = readCollected(plan.sessionDir);
    const found = { changes, findings: findings.filter((one) => !isRehearsed(one)), secrets: secretPaths(plan) };
    return rehearse({ plan, workspace, engine, tell, signal: interruption.next() }, found, seconds);
  });
  const collected = readCollected(plan.sessionDir);
  const kept = collected.findings.filter((finding) => !isRehearsed(finding));
  writeCollected(plan.sessionDir, { ...collected, findings: [...kept, ...done.findings].sort(bySeverity) });
  const paths = new Set(done.findings.map(({ path }) => path));
  return { done, joined: kept.filter(({ path }) => paths.has(path)) };
}

/** Those that git does not track: ordinary programs read the others. */
function secretPaths({ sessionDir }: Pick<Plan, 'sessionDir'>): ReadonlySet<string> {
  const files = readSecretFiles(sessionDir).filter(({ state }) => state !== 'tracked');
  return new Set(files.map(({ path }) => path));
}

const bySeverity = (a: Finding, b: Finding): number => SEVERITY_RANK[a.severity] - SEVERITY_RANK[b.severity];

/** What was found, what ran, and what did not: nothing is taken for harmless because it was not tried. */
export function tellRehearsal({ done, joined }: RehearsedSession, tell: Tell): void {
  tellLines(findingLines([...joined, ...done.findings].sort(bySeverity)), tell);
  tellCoverage(done, tell);
}

function tellCoverage({ findings, ran, gaps, ms }: Rehearsal, tell: Tell): void {
  const say = (text: string): void => tell({ kind: 'message', level: 'info', text });
  const seconds = `${Math.max(1, Math.round(ms / 1000))} s`;
  const news = isNew(findings) ? '' : 'No command does anything new with the changes. ';
  say(`${news}Rehearsed in ${seconds}: ${ran.length === 0 ? 'no command' : ran.join(', ')}.`);
  for (const gap of gaps) say(`Not rehearsed: ${cleanLine(gap)}.`);
}

/** Whether a rehearsal found something that only the changes do. */
export function isNew(findings: readonly Finding[]): boolean {
  return findings.some((one) => isRehearsed(one) && one.severity !== 'note');
}

/**
 * Rehearses a session before its changes are decided about; undefined where none can run. Returns whether it ended: a
 * failure and an interruption are reported, and the decision is made without it. The summary that follows has its findings.
 */
export function rehearserOf(record: SessionRecord, deps: UserDeps): (() => Promise<boolean>) | undefined {
  const { plan } = record;
  const { tell, withEngine } = deps;
  if (withEngine === undefined || plan.strategy === 'bind' || !isLayerKept(record)) return undefined;
  // Its layer cannot be written to.
  if (STRATEGIES[plan.strategy].copiesProject) return undefined;
  return async () => {
    try {
      const { done } = await withEngine(plan, (own) => rehearseSession(record, own));
      tellCoverage(done, tell);
      return true;
    } catch (error) {
      if (error instanceof Interrupted) tell({ kind: 'message', level: 'info', text: 'The rehearsal was stopped.' });
      else if (error instanceof RunClaudeError) tell({ kind: 'message', level: 'warning', text: failureText(error) });
      else throw error;
      return false;
    }
  };
}

function failureText({ message, hint }: RunClaudeError): string {
  return `The changes were not rehearsed: ${cleanLine(message)}.${hint === undefined ? '' : ` ${cleanLine(hint)}`}`;
}
