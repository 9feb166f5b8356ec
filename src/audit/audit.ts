import { isDotGitName, isPlainDotGit } from '../git/names.ts';
import type { RelPath } from '../text/path.ts';
import { visible } from '../text/visible.ts';
import type { Change } from '../types/entry.ts';
import type { Finding, Severity } from '../types/finding.ts';
import { signalHits } from './content/signals.ts';
import { entryHits } from './entries.ts';
import { fileHits } from './files.ts';
import { matcherOf } from './formats/glob.ts';
import { USER_RULE_TITLE } from './general-rules/rule.ts';
import { judgeGitPath } from './git-directory/judge-path.ts';
import { type Hit, hitOf } from './hit.ts';
import { type AuditInput, sceneOf } from './input.ts';
import { insideFolders } from './inside-folders.ts';
import { aliasesOf, linkHits } from './links.ts';
import { nameHits } from './names.ts';
import { treeHits } from './tree.ts';

const RANK: Readonly<Record<Severity, number>> = { blocked: 0, suspect: 1, note: 2 };
/**
 * The findings for a session's frozen changes, the worst first, then by path. Pure: the same input gives the same
 * findings. A change with a problem, or whose content is missing, is blocked. Ignored changes, which are withheld, are
 * not judged. A configuration may raise a severity, and lower one that is not blocked.
 */
export function auditChanges(input: AuditInput): Finding[] {
  const scene = sceneOf(input);
  const aliases = aliasesOf(scene);
  const hits: Hit[] = [];
  const gitData = new Map<string, number>();
  for (const change of input.changes) {
    if (change.ignored === true) continue;
    if (change.problem !== undefined) {
      hits.push(hitOf('unreadable', change.path, { detail: change.problem }));
      continue;
    }
    const git = gitDirOf(change.path);
    if (git !== undefined) {
      for (const hit of judgeGitPath(scene, change, git.inner)) {
        if (hit.rule === 'git-data') gitData.set(git.dir, (gitData.get(git.dir) ?? 0) + 1);
        else hits.push(hit);
      }
      hits.push(...nameHits(scene, change).filter((hit) => hit.rule !== 'name-dotgit' || !isPlainDotGit(git.name)));
      continue;
    }
    hits.push(...nameHits(scene, change), ...entryHits(scene, change), ...linkHits(scene, change));
    hits.push(...fileHits(scene, change, aliases(change.path)), ...signalHits(scene, change));
  }
  for (const [dir, count] of gitData)
    hits.push(hitOf('git-data', dir, { detail: count === 1 ? '1 file' : `${count} files` }));
  for (const hit of [...treeHits(scene, aliases), ...userHits(input)]) hits.push(hit);
  for (const hit of insideFolders(scene, hits)) hits.push(hit);
  return findingsOf(hits, input);
}

/** The first component that some file system takes for `.git`, and the path after it. */
function gitDirOf(path: string): { dir: string; inner: string; name: string } | undefined {
  const parts = path.split('/');
  const at = parts.findIndex(isDotGitName);
  if (at < 0) return undefined;
  return { dir: parts.slice(0, at + 1).join('/'), inner: parts.slice(at + 1).join('/'), name: parts[at] as string };
}

function userHits(input: AuditInput): Hit[] {
  return (input.userRules ?? []).flatMap((rule) => {
    const matches = matcherOf(rule.paths);
    const fits = (change: Change): boolean => change.ignored !== true && matches(change.path);
    return input.changes.filter(fits).map((change) => ({
      rule: rule.id,
      severity: rule.severity,
      path: change.path,
      title: USER_RULE_TITLE,
      why: rule.why,
    }));
  });
}

/** Findings without repetitions, in order, with the configuration's severities and cleaned texts. */
function findingsOf(hits: readonly Hit[], input: AuditInput): Finding[] {
  const seen = new Set<string>();
  const out: Finding[] = [];
  for (const hit of hits) {
    const id = `${hit.rule}\0${hit.path}\0${hit.detail ?? ''}`;
    if (seen.has(id)) continue;
    seen.add(id);
    // A configuration never lowers a blocked finding.
    const severity = hit.severity === 'blocked' ? 'blocked' : (input.severities?.[hit.rule] ?? hit.severity);
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
  return out.sort((a, b) => RANK[a.severity] - RANK[b.severity] || compare(a.path, b.path) || compare(a.rule, b.rule));
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

export type { AuditInput };
