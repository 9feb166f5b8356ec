import path from 'node:path';
import { fields, oneOf, type RecordFormat, readRecordFile, text } from '../../core/store/parse-record.ts';
import { writeJsonAtomic } from '../../core/store/record.ts';
import type { SessionRecord } from '../../core/types/session.ts';

/** A request from inside a kept session that the user reviews its changes. It changes nothing else. */
export interface Proposal {
  readonly version: 1;
  /** ISO 8601. */
  readonly at: string;
  /** What the agent says about its changes; not cleaned. */
  readonly summary: string;
}

/** Longer than any title and list that a user reads before a review. */
const MAX_SUMMARY_CHARACTERS = 2000;

const FORMAT: RecordFormat<Proposal> = {
  name: 'proposal',
  version: 1,
  check: fields<Proposal>({ version: oneOf(1), at: text, summary: text }),
  hint: 'Remove the file; the request for a review is made again.',
};

const proposalFile = (sessionDir: string): string => path.join(sessionDir, 'proposal');

/** Records that a review is asked for. One session has one request: a later one takes its place. Returns whether it is the first. */
export function writeProposal({ plan }: SessionRecord, summary: string, nowMs: number): boolean {
  const file = proposalFile(plan.sessionDir);
  const isFirst = readRecordFile(file, FORMAT) === undefined;
  const proposal: Proposal = {
    version: 1,
    at: new Date(nowMs).toISOString(),
    summary: summary.slice(0, MAX_SUMMARY_CHARACTERS),
  };
  writeJsonAtomic(file, proposal);
  return isFirst;
}

/** The request for a review of a kept session; undefined where there is none. @throws {RunClaudeError} RECORD_DAMAGED. */
export function readProposal({ plan }: SessionRecord): Proposal | undefined {
  return plan.program.kind === 'kept' ? readRecordFile(proposalFile(plan.sessionDir), FORMAT) : undefined;
}
