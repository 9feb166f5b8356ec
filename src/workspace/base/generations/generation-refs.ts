import { existsSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { RunClaudeError } from '../../../core/errors.ts';
import { readJson, writeJsonAtomic } from '../../../core/store/record.ts';

/** A session's reference to a generation of a base, here or in an engine: that generation may not change. */
export interface GenerationRef {
  readonly generation: number;
  /** The reference is void when this directory no longer exists. */
  readonly sessionDir: string;
  /** For a generation in an engine: the id of its volume. */
  readonly volumeId?: string;
}

/** Of the file; one without a version was written by an earlier release, with the same fields. */
const FORMAT = 1;

/** References of sessions to generations of the base in `dir`. Throws RECORD_DAMAGED, RECORD_VERSION. */
export function generationRefs(dir: string): readonly GenerationRef[] {
  return entriesOf(dir)
    .map(({ ref }) => ref)
    .filter(({ sessionDir }) => existsSync(sessionDir));
}

/** Removes references of sessions that no longer exist. Throws as {@link generationRefs}. */
export function dropVoidRefs(dir: string): void {
  for (const { file, ref } of entriesOf(dir)) if (!existsSync(ref.sessionDir)) rmSync(file, { force: true });
}

/** Records a session's reference, in place of an earlier one. */
export function addRef(dir: string, sessionId: string, ref: GenerationRef): void {
  writeJsonAtomic(fileOf(dir, sessionId), { version: FORMAT, ...ref });
}

/** Removes a session's reference, if there is one. */
export function releaseRef(dir: string, sessionId: string): void {
  rmSync(fileOf(dir, sessionId), { force: true });
}

function fileOf(dir: string, sessionId: string): string {
  return path.join(dir, 'users', `${sessionId}.json`);
}

function entriesOf(dir: string): Array<{ readonly file: string; readonly ref: GenerationRef }> {
  const folder = path.join(dir, 'users');
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => {
      const file = path.join(folder, name);
      const value = readJson(file);
      return value === undefined ? [] : [{ file, ref: parseRef(value, file) }];
    });
}

/** A reference that cannot be read is never passed over: the generation that it protects would be changed. */
function parseRef(value: unknown, file: string): GenerationRef {
  const fields = (value ?? {}) as Readonly<Record<string, unknown>>;
  const { version = FORMAT, generation, sessionDir, volumeId } = fields;
  if (version !== FORMAT) {
    throw new RunClaudeError('RECORD_VERSION', `${file} was written by another version of run-claude`, {
      hint: 'Use that version for this project, or discard the session there.',
    });
  }
  const isSound =
    Number.isSafeInteger(generation) &&
    typeof sessionDir === 'string' &&
    (volumeId === undefined || typeof volumeId === 'string');
  if (!isSound) {
    throw new RunClaudeError('RECORD_DAMAGED', `${file} does not name a generation and a session`, {
      hint: `Discard session ${path.basename(file, '.json')}, then remove the file.`,
    });
  }
  const ref = { generation: generation as number, sessionDir };
  return volumeId === undefined ? ref : { ...ref, volumeId };
}
