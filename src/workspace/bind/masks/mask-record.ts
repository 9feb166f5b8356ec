import { addedNames } from '../../../core/secrets/assignments.ts';
import {
  fields,
  listOf,
  oneOf,
  type RecordFormat,
  readRecordFile,
  relPath,
  text,
} from '../../../core/store/parse-record.ts';
import { writeJsonAtomic } from '../../../core/store/record.ts';
import { readRegularFile } from '../scan-project.ts';

/** A file of the project in whose place the agent has another text. */
export interface MaskedFile {
  readonly path: string;
  readonly text: Buffer;
  readonly mode: number;
}

/** What a session's directory keeps of its masked files, for the command that ends the session. */
interface MaskRecord {
  readonly version: 1;
  /** `text`: what the agent had at the start, in Base64. The number of the file that it had is the place in this list. */
  readonly files: readonly { readonly path: string; readonly text: string }[];
}

const FORMAT: RecordFormat<MaskRecord> = {
  name: 'list of masked files',
  version: 1,
  hint: 'Look at the session directory, then discard the session: run-claude discard.',
  check: fields<MaskRecord>({ version: oneOf(1), files: listOf(fields({ path: relPath, text })) }),
};

/** Larger files are not compared: the agent wrote to a file of that size. */
const MAX_MASK_BYTES = 16 << 20;

/** The file in a session's directory that covers one of the masked files, by its number among them. */
export function maskFile(sessionDir: string, number: number): string {
  return `${sessionDir}/bind/mask-${number}`;
}

export function writeMaskRecord(sessionDir: string, files: readonly MaskedFile[]): void {
  const record: MaskRecord = {
    version: 1,
    files: files.map(({ path, text: masked }) => ({ path, text: masked.toString('base64') })),
  };
  writeJsonAtomic(recordFile(sessionDir), record);
}

/** A masked file of a session that ended. */
export interface EndedMask {
  readonly path: string;
  /** What the agent had in its place, at the start and at the end. Undefined: too large, or the agent's file is lost. */
  readonly before: Buffer;
  readonly after: Buffer | undefined;
}

/** The masked files of a session, in the order of their mounts. Empty where nothing was masked. */
export function readMaskRecord(sessionDir: string): EndedMask[] {
  const { files } = readRecordFile(recordFile(sessionDir), FORMAT) ?? { files: [] };
  return files.map(({ path, text: masked }, number) => ({
    path,
    before: Buffer.from(masked, 'base64'),
    after: readRegularFile(sessionDir, `bind/mask-${number}`, MAX_MASK_BYTES),
  }));
}

/**
 * A line for each masked file that the session wrote to, with the keys that it added: that stays in its own file, since
 * the user's never changes. Pure.
 */
export function writtenMaskLines(masks: readonly EndedMask[]): string[] {
  return masks.flatMap(({ path, before, after }) => {
    if (after?.equals(before) === true) return [];
    const added = addedNames(before.toString('utf8'), after?.toString('utf8') ?? '');
    const what = added.length === 0 ? '' : `; added inside, for you to add: ${added.join(', ')}`;
    return [`${path} is masked and was not changed: what the session wrote to it is not in your project${what}`];
  });
}

function recordFile(sessionDir: string): string {
  return `${sessionDir}/bind/masks.json`;
}
