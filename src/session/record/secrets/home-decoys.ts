import path from 'node:path';
import { fields, oneOf, type RecordFormat, readRecordFile } from '../../../core/store/parse-record.ts';
import { writeJsonAtomic } from '../../../core/store/record.ts';
import type { Decoy } from '../../../core/types/secret/decoy.ts';
import { DECOYS, DECOYS_HINT, readDecoys } from './decoys.ts';

interface HomeDecoyRecord {
  readonly version: 1;
  readonly decoys: readonly Decoy[];
}

/** home-decoys.json. It is on the host only. */
const HOME_DECOY_FORMAT: RecordFormat<HomeDecoyRecord> = {
  name: "record of decoys in the agent's home",
  version: 1,
  check: fields<HomeDecoyRecord>({ version: oneOf(1), decoys: DECOYS }),
  hint: DECOYS_HINT,
};

const recordFile = (sessionDir: string): string => path.join(sessionDir, 'home-decoys.json');

/** Records the decoys of the agent's home, before the agent can read them. Their paths begin with `~/`. */
export function rememberHomeDecoys(sessionDir: string, decoys: readonly Decoy[]): void {
  writeJsonAtomic(recordFile(sessionDir), { version: HOME_DECOY_FORMAT.version, decoys });
}

/**
 * The decoys of the agent's home; none for a session of an earlier release.
 *
 * @throws {RunClaudeError} RECORD_VERSION, RECORD_DAMAGED, RECORD_UNREADABLE.
 */
export function readHomeDecoys(sessionDir: string): readonly Decoy[] {
  return readRecordFile(recordFile(sessionDir), HOME_DECOY_FORMAT)?.decoys ?? [];
}

/** All decoys of a session: those of masked files, and those of the home. Throws as both. */
export function sessionDecoys(sessionDir: string): readonly Decoy[] {
  return [...readDecoys(sessionDir), ...readHomeDecoys(sessionDir)];
}
