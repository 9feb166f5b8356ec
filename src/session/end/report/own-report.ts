import path from 'node:path';
import { RunClaudeError } from '../../../core/errors.ts';
import { jsonText } from '../../../core/report/json.ts';
import type { Report, ReportedFinding } from '../../../core/report/schema.ts';
import { testFields, verdictFields } from '../../../core/store/outcome-checks.ts';
import {
  fields,
  flag,
  listOf,
  number,
  oneOf,
  optional,
  type RecordFormat,
  readRecordFile,
  text,
} from '../../../core/store/parse-record.ts';
import { writeFileAtomic } from '../../../core/store/record.ts';

/** The report in the session's own directory, which is always written. */
export const OWN_REPORT = 'report.json';

const counts = fields<Report['counts']>({
  created: number,
  modified: number,
  deleted: number,
  mode: number,
  type: number,
  renamed: optional(number),
});

const session = fields<NonNullable<Report['session']>>({
  id: text,
  mode: oneOf('copy', 'bind'),
  strategy: text,
  started: text,
  agentStatus: optional(number),
  stoppedBecause: optional(text),
  failure: optional(fields({ code: text, message: text, hint: optional(text) })),
  decided: flag,
  discarded: flag,
  usage: optional(fields({ requests: number, inputTokens: number, outputTokens: number, costUsd: number })),
});

const change = fields<Report['changes'][number]>({
  path: text,
  kind: oneOf('created', 'modified', 'deleted', 'mode', 'type'),
  state: oneOf('clean', 'suspect', 'blocked', 'withheld', 'git'),
  renamedFrom: optional(text),
  similarity: optional(number),
});

const finding = fields<ReportedFinding>({
  rule: text,
  severity: oneOf('blocked', 'suspect', 'note'),
  path: text,
  title: text,
  why: text,
  detail: optional(text),
  line: optional(number),
});

const network = fields<NonNullable<Report['network']>[number]>({
  host: text,
  port: number,
  passed: number,
  refused: number,
  failed: number,
  bytesOut: number,
  bytesIn: number,
  why: optional(text),
});

const outcome = fields<NonNullable<Report['outcome']>[number]>({
  path: text,
  ...verdictFields,
});

const test = fields<NonNullable<Report['tests']>[number]>(testFields);

const FORMAT: RecordFormat<Report> = {
  name: 'report',
  version: 1,
  check: fields<Report>({
    version: oneOf(1),
    tool: fields({ name: oneOf('run-claude'), version: text }),
    kind: oneOf('session', 'audit'),
    project: text,
    exitStatus: number,
    session: optional(session),
    base: optional(text),
    counts,
    severities: fields({ blocked: number, suspect: number, note: number }),
    massDeletion: optional(fields({ deleted: number, of: number })),
    changes: listOf(change),
    findings: listOf(finding),
    rules: listOf(fields({ id: text, title: text, trigger: text, why: text, source: text })),
    problems: listOf(fields({ path: text, why: text })),
    withheld: listOf(fields({ directory: text, entries: number, bytes: number })),
    network: optional(listOf(network)),
    files: optional(fields({ total: number, applied: number, left: number, inPart: number, blocked: number })),
    tests: optional(listOf(test)),
    outcome: optional(listOf(outcome)),
  }),
  hint: 'Move the file away: the rest of the session can be used without it.',
};

/** Writes the report into the session's own directory; later commands write it again. */
export function writeOwnReport(report: Report, sessionDir: string): void {
  writeFileAtomic(path.join(sessionDir, OWN_REPORT), jsonText(report));
}

/**
 * What {@link writeOwnReport} wrote last; undefined when there is none.
 *
 * @throws {RunClaudeError} RECORD_VERSION when another release wrote it in a form that this one does not know,
 * RECORD_DAMAGED, RECORD_UNREADABLE.
 */
export function readOwnReport(sessionDir: string): Report | undefined {
  return readRecordFile(path.join(sessionDir, OWN_REPORT), FORMAT);
}

/** As {@link readOwnReport}, for a list of sessions: undefined also for a report that cannot be read. */
export function readOwnReportForList(sessionDir: string): Report | undefined {
  try {
    return readOwnReport(sessionDir);
  } catch (error) {
    if (error instanceof RunClaudeError) return undefined;
    throw error;
  }
}
