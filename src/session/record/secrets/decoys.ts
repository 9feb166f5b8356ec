import path from 'node:path';
import {
  fields,
  flag,
  listOf,
  oneOf,
  optional,
  type RecordFormat,
  readRecordFile,
  text,
} from '../../../core/store/parse-record.ts';
import { writeJsonAtomic } from '../../../core/store/record.ts';
import type { Decoy } from '../../../core/types/secret/decoy.ts';
import type { SecretFile } from '../../../core/types/secret/secret-file.ts';
import type { Workspace } from '../../../workspace/view/workspace.ts';
import { secretLines } from '../../plan/secret-words.ts';

interface DecoyRecord {
  readonly version: 1;
  /** Those that are not masked, too. */
  readonly files: readonly SecretFile[];
  readonly decoys: readonly Decoy[];
}

/** Of a record that has decoys. */
export const DECOYS = listOf(fields<Decoy>({ path: text, name: optional(text), value: text }));
export const DECOYS_HINT = 'Discard the session: without the record its changes cannot be checked for decoys.';

/** decoys.json. It is on the host only. */
const DECOY_FORMAT: RecordFormat<DecoyRecord> = {
  name: 'record of secrets and decoys',
  version: 1,
  check: fields<DecoyRecord>({
    version: oneOf(1),
    files: listOf(
      fields<SecretFile>({
        path: text,
        reason: text,
        state: oneOf('masked', 'unmasked', 'tracked', 'by-content'),
        isInGit: optional(flag),
      }),
    ),
    decoys: DECOYS,
  }),
  hint: DECOYS_HINT,
};

/** Records the secrets of a workspace that was made anew, before the agent can read it. */
export function rememberSecrets(sessionDir: string, { secrets }: Pick<Workspace, 'secrets'>): void {
  if (secrets === undefined) return;
  writeJsonAtomic(recordFile(sessionDir), { version: DECOY_FORMAT.version, ...secrets });
}

/**
 * The decoys that are in a session's copy; none for a session of an earlier release.
 *
 * @throws {RunClaudeError} RECORD_VERSION, RECORD_DAMAGED, RECORD_UNREADABLE.
 */
export function readDecoys(sessionDir: string): readonly Decoy[] {
  return readRecordFile(recordFile(sessionDir), DECOY_FORMAT)?.decoys ?? [];
}

/**
 * The project's files that hold secrets, as they were when the session began.
 *
 * @throws {RunClaudeError} RECORD_VERSION, RECORD_DAMAGED, RECORD_UNREADABLE.
 */
export function readSecretFiles(sessionDir: string): readonly SecretFile[] {
  return readRecordFile(recordFile(sessionDir), DECOY_FORMAT)?.files ?? [];
}

/** A line for each file that {@link readSecretFiles} gives. */
export function secretFileLines(sessionDir: string): string[] {
  return secretLines(readSecretFiles(sessionDir)).map((text) => `secrets in ${text}`);
}

function recordFile(sessionDir: string): string {
  return path.join(sessionDir, 'decoys.json');
}
