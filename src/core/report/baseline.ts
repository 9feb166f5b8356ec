import { usageError } from '../errors.ts';
import { asObject, parseObject } from '../text/json-in.ts';
import { fingerprintOf } from './fingerprint.ts';
import type { ReportedFinding } from './schema.ts';

/** Findings that a reviewer accepted, at the top of the project. The one of the base counts, never that of the change. */
export const BASELINE_FILE = '.run-claude-baseline.json';

/** `fingerprint`: of {@link fingerprintOf}; the others are for the reader. */
export interface AcceptedFinding {
  readonly rule: string;
  readonly path: string;
  readonly fingerprint: string;
}

/**
 * The accepted findings of a baseline file.
 *
 * @throws {RunClaudeError} USAGE for a text of another form.
 */
export function readBaseline(text: string): readonly AcceptedFinding[] {
  const { version, accepted } = parseObject(text) ?? {};
  const rows: readonly unknown[] | undefined = Array.isArray(accepted) ? accepted : undefined;
  const read = rows
    ?.map(asObject)
    .flatMap(({ rule, path, fingerprint } = {}) =>
      typeof rule === 'string' && typeof path === 'string' && typeof fingerprint === 'string'
        ? [{ rule, path, fingerprint }]
        : [],
    );
  if (version === 1 && read !== undefined && read.length === rows?.length) return read;
  throw usageError(
    `${BASELINE_FILE} is not what run-claude writes, or is of a newer version`,
    'Write it anew: delete it, then run-claude audit --base REF --write-baseline',
  );
}

/** Tells the findings that these rows accept. What is blocked cannot be accepted. */
export function acceptedBy(rows: readonly AcceptedFinding[]): (finding: ReportedFinding) => boolean {
  const known = new Set(rows.map(({ fingerprint }) => fingerprint));
  return (finding) => finding.severity === 'suspect' && known.has(fingerprintOf(finding));
}

/** Suspect findings as rows of a baseline file, next to those that it has. Sorted by path, so that git can merge them. */
export function accepting(
  findings: readonly ReportedFinding[],
  before: readonly AcceptedFinding[],
): readonly AcceptedFinding[] {
  const suspect = findings.filter(({ severity, path }) => severity === 'suspect' && path !== BASELINE_FILE);
  const added = suspect.map((one) => ({ rule: one.rule, path: one.path, fingerprint: fingerprintOf(one) }));
  const rows = new Map([...before, ...added].map((row) => [row.fingerprint, row]));
  const keyOf = ({ path, rule, fingerprint }: AcceptedFinding): string => `${path}\0${rule}\0${fingerprint}`;
  return [...rows.values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

/** The text of a baseline file. */
export function baselineText(accepted: readonly AcceptedFinding[]): string {
  return `${JSON.stringify({ version: 1, accepted }, undefined, 2)}\n`;
}
