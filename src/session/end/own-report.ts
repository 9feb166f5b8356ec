import path from 'node:path';
import { RunClaudeError } from '../../errors.ts';
import type { Report } from '../../report/schema.ts';
import { readJson } from '../../store/record.ts';

/** The report in the session's own directory, which is always written. */
export const OWN_REPORT = 'report.json';

/** The session's own report as it was written last; undefined when there is none that can be read. */
export function readOwnReport(sessionDir: string): Report | undefined {
  try {
    const value = readJson(path.join(sessionDir, OWN_REPORT)) as Report | undefined;
    return value?.version === 1 ? value : undefined;
  } catch (error) {
    if (error instanceof RunClaudeError && error.code === 'RECORD_DAMAGED') return undefined;
    throw error;
  }
}
