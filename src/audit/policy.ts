import type { Finding, Severity } from '../types/finding.ts';
import { matcherOf } from './glob.ts';

const RANK: Readonly<Record<Severity, number>> = { blocked: 0, suspect: 1, note: 2 };

/** A project's own severities over the person's: only those that are stricter count, the others are named. */
export function tightenSeverities(
  person: Readonly<Record<string, Severity>>,
  project: Readonly<Record<string, Severity>>,
  builtIn: (rule: string) => Severity | undefined,
): { readonly severities: Readonly<Record<string, Severity>>; readonly refused: readonly string[] } {
  const severities: Record<string, Severity> = { ...person };
  const refused: string[] = [];
  for (const [rule, wanted] of Object.entries(project)) {
    const now = severities[rule] ?? builtIn(rule);
    if (now !== undefined && RANK[wanted] > RANK[now]) refused.push(rule);
    else severities[rule] = wanted;
  }
  return { severities, refused };
}

export interface Holding {
  /** Never applied. */
  readonly blocked: ReadonlySet<string>;
  /** Needs a yes by name. */
  readonly suspect: ReadonlySet<string>;
}

/** Which paths the findings hold back. `allowSuspect`: globs whose suspect changes count as clean; never for blocked. */
export function heldBack(findings: readonly Finding[], allowSuspect: readonly string[]): Holding {
  const allowed = matcherOf(allowSuspect);
  const of = (severity: Severity): string[] =>
    findings.filter((one) => one.severity === severity).map((one) => one.path);
  const blocked = new Set<string>(of('blocked'));
  return { blocked, suspect: new Set(of('suspect').filter((path) => !blocked.has(path) && !allowed(path))) };
}

/** Whether `--fail-on LEVEL` is met. */
export function reaches(findings: readonly Finding[], level: Severity): boolean {
  return findings.some((one) => RANK[one.severity] <= RANK[level]);
}
