import path from 'node:path';
import { RunClaudeError } from '../../core/errors.ts';
import { fields, listOf, oneOf, type RecordFormat, readRecordFile, text } from '../../core/store/parse-record.ts';
import { writeJsonAtomic } from '../../core/store/record.ts';
import { pathKey } from '../plan/plan-run.ts';

/** The requests that the user agreed to for a project. */
interface ApprovedRequests {
  readonly version: 1;
  readonly digests: readonly string[];
}

/** requests/KEY.json */
const APPROVED_FORMAT: RecordFormat<ApprovedRequests> = {
  name: 'record of approved requests',
  version: 1,
  check: fields<ApprovedRequests>({ version: oneOf(1), digests: listOf(text) }),
  hint: 'Remove the file; the next start asks again.',
};

/** Branches of a project may ask for different things: the last ones are kept, so that a switch does not ask again. */
const MAX_KEPT = 20;

/** Digests of the requests that the user agreed to for the project at this real path. A damaged record counts as none. */
export function approvedRequests(stateDir: string, root: string): readonly string[] {
  try {
    return readRecordFile(fileOf(stateDir, root), APPROVED_FORMAT)?.digests ?? [];
  } catch (error) {
    if (error instanceof RunClaudeError) return [];
    throw error;
  }
}

/** Records that the user agreed to a request of the project at this real path. */
export function rememberRequest(stateDir: string, root: string, digest: string): void {
  const others = approvedRequests(stateDir, root).filter((one) => one !== digest);
  const approved: ApprovedRequests = { version: 1, digests: [digest, ...others].slice(0, MAX_KEPT) };
  writeJsonAtomic(fileOf(stateDir, root), approved);
}

function fileOf(stateDir: string, root: string): string {
  return path.join(stateDir, 'requests', `${pathKey(root)}.json`);
}
