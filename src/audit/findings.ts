import type { RelPath } from '../core/text/path.ts';
import { visible } from '../core/text/visible.ts';
import type { Change } from '../core/types/entry.ts';
import { type Finding, SEVERITY_RANK, type Severity } from '../core/types/finding.ts';
import { UNREADABLE } from './general-rules/entries.ts';
import { GIT_DATA } from './general-rules/git.ts';
import { type Hit, hitOf } from './hit.ts';
import { insideFolders } from './inside-folders.ts';

/** The finding for a change that ends the process which judges it, or that takes too long. */
export function unjudged(path: string, detail: string): Hit {
  return hitOf(UNREADABLE, path, { case: 'failed', detail });
}

/** Whether a finding is of a change whose judging failed: that says something of the judge, not of the change. */
export function isOfFailedJudging({ rule, title }: Pick<Finding, 'rule' | 'title'>): boolean {
  return rule === 'unreadable' && title === hitOf(UNREADABLE, '', { case: 'failed' }).title;
}

/** The finding for a change whose audit is missing. */
export function notYetAudited(path: string): Hit {
  return hitOf(UNREADABLE, path, { case: 'pending' });
}

/** The findings where what judges all changes together has failed. */
export function unjudgedTogether(changes: readonly Change[], detail: string): Hit[] {
  return changes
    .filter(({ ignored }) => ignored !== true)
    .map(({ path }) => hitOf(UNREADABLE, path, { case: 'together', detail }));
}

/** Files of a git directory are one finding, with their number. */
function withGitData(hits: readonly Hit[]): Hit[] {
  const files = new Map<string, number>();
  for (const { rule, path } of hits) if (rule === 'git-data') files.set(path, (files.get(path) ?? 0) + 1);
  const out = hits.filter(({ rule }) => rule !== 'git-data');
  for (const [dir, count] of files)
    out.push(hitOf(GIT_DATA, dir, { detail: count === 1 ? '1 file' : `${count} files` }));
  return out;
}

/** Hits as findings: those on a folder also for what is inside it, without repetitions, in order, with the configuration's severities and cleaned texts. */
export function findingsOf(
  hits: readonly Hit[],
  severities: Readonly<Record<string, Severity>> | undefined,
  changes: readonly Change[],
): Finding[] {
  const seen = new Set<string>();
  const out: Finding[] = [];
  const all = withGitData(hits);
  for (const hit of insideFolders(changes, all)) all.push(hit);
  for (const hit of all) {
    const id = `${hit.rule}\0${hit.path}\0${hit.detail ?? ''}`;
    if (seen.has(id)) continue;
    seen.add(id);
    // A configuration never lowers a blocked finding.
    const severity = hit.severity === 'blocked' ? 'blocked' : (severities?.[hit.rule] ?? hit.severity);
    out.push({
      rule: hit.rule,
      severity,
      path: hit.path as RelPath,
      title: visible(hit.title),
      why: visible(hit.why),
      ...(hit.detail === undefined ? {} : { detail: visible(hit.detail).slice(0, 500) }),
      ...(hit.line === undefined ? {} : { line: hit.line }),
    });
  }
  return out.sort(
    (a, b) =>
      SEVERITY_RANK[a.severity] - SEVERITY_RANK[b.severity] || compare(a.path, b.path) || compare(a.rule, b.rule),
  );
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
