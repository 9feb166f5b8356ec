import { changeOutcome } from '../../../../core/store/outcome-checks.ts';
import {
  fields,
  flag,
  listOf,
  number,
  oneOf,
  optional,
  parseRecord,
  type RecordFormat,
  requireValid,
  text,
  variants,
} from '../../../../core/store/parse-record.ts';
import type { ChangeOutcome } from '../../../../core/types/session.ts';
import type { HostState } from '../host/host-entry.ts';
import type { Step, Target } from '../steps/steps.ts';

/** What an apply or an undo is about to do, known before the host is touched. */
export interface JournalHead {
  readonly version: 1;
  readonly kind: 'apply' | 'undo';
  /** Of an undo: the number of the journal that it undoes. */
  readonly undoes?: number;
  readonly project: string;
  /** 'device:inode' of the project's directory, and the boot in which its device had that number. */
  readonly identity: string;
  readonly boot?: string;
  /** Part of the names of the temporary files next to their targets. */
  readonly token: string;
  readonly at: string;
  /** What the things in several files had besides the files of the steps. Earlier releases did not record it. */
  readonly others?: readonly OtherMember[];
}

/** A file of a thing in several files that an apply left as it was. */
export interface OtherMember {
  readonly path: string;
  /** As {@link versionHost} returns it. */
  readonly version: string;
}

/** A folder that gets or loses entries: undo restores its modification time. */
export interface FolderTime {
  readonly path: string;
  readonly mtimeNs: string;
  readonly after?: string;
}

export type JournalRecord =
  | { readonly r: 'head'; readonly head: JournalHead; readonly folders: readonly FolderTime[] }
  | { readonly r: 'step'; readonly step: Step }
  /** Everything above is on the disk: from here on recovery finishes the journal. */
  | { readonly r: 'ready'; readonly steps: number }
  /** `mode`: the mode that the file has, where the file system keeps no modes. */
  | { readonly r: 'done'; readonly step: number; readonly mode?: number }
  | { readonly r: 'failed'; readonly step: number; readonly outcome: ChangeOutcome }
  /** The disk is full or failed: the steps that were done are undone. */
  | { readonly r: 'rollback'; readonly why: string }
  | { readonly r: 'end'; readonly outcomes: readonly ChangeOutcome[]; readonly folders: readonly FolderTime[] };

type Line<R extends JournalRecord['r']> = Extract<JournalRecord, { readonly r: R }>;

/** The first record of a journal: its version holds for the whole journal. */
const HEAD_FORMAT: RecordFormat<JournalHead> = {
  name: 'journal of an apply',
  version: 1,
  check: fields<JournalHead>({
    version: oneOf(1),
    kind: oneOf('apply', 'undo'),
    undoes: optional(number),
    project: text,
    identity: text,
    boot: optional(text),
    token: text,
    at: text,
    others: optional(listOf(fields<OtherMember>({ path: text, version: text }))),
  }),
  hint: 'Nothing was applied or undone by this command. Use the release of run-claude that wrote the journal.',
};

const folders = listOf(fields<FolderTime>({ path: text, mtimeNs: text, after: optional(text) }));

const hostState = fields<HostState>({
  kind: oneOf('file', 'dir', 'symlink', 'fifo', 'socket', 'char', 'block'),
  mode: number,
  size: number,
  mtimeNs: text,
  digest: optional(text),
  target: optional(text),
  uid: number,
  gid: number,
  nlink: number,
  fingerprint: text,
});

const target = fields<Target>({
  kind: oneOf('file', 'dir', 'symlink'),
  mode: number,
  digest: optional(text),
  size: optional(number),
  target: optional(text),
  sessionMode: optional(number),
  mtimeNs: optional(text),
  uid: optional(number),
  gid: optional(number),
});

const step = fields<Step>({
  // Where it leads is judged by isInProject: such a step is never done, and the others are still undone.
  path: text,
  pre: optional(hostState),
  post: optional(target),
  inPlace: optional(flag),
  attributes: optional(flag),
  renames: optional(flag),
  late: optional(flag),
  together: optional(text),
  thing: optional(text),
  note: optional(text),
});

/** Any record of a journal, one a line. */
const journalRecord = variants<JournalRecord>('r', {
  head: fields<Line<'head'>>({ r: oneOf('head'), head: HEAD_FORMAT.check, folders }),
  step: fields<Line<'step'>>({ r: oneOf('step'), step }),
  ready: fields<Line<'ready'>>({ r: oneOf('ready'), steps: number }),
  done: fields<Line<'done'>>({ r: oneOf('done'), step: number, mode: optional(number) }),
  failed: fields<Line<'failed'>>({ r: oneOf('failed'), step: number, outcome: changeOutcome }),
  rollback: fields<Line<'rollback'>>({ r: oneOf('rollback'), why: text }),
  end: fields<Line<'end'>>({ r: oneOf('end'), outcomes: listOf(changeOutcome), folders }),
});

/**
 * @throws {RunClaudeError} RECORD_VERSION when `value` is the head of a journal whose form this release does not know.
 */
export function requireKnownVersion(value: unknown, file: string): void {
  if (isHead(value)) parseRecord(value.head, HEAD_FORMAT, file);
}

function isHead(value: unknown): value is { readonly head: unknown } {
  return typeof value === 'object' && value !== null && 'head' in value;
}

/** @throws {RunClaudeError} RECORD_DAMAGED when it is not a record of a journal. */
export function parseJournalRecord(value: unknown, file: string): JournalRecord {
  return requireValid(value, { ...HEAD_FORMAT, check: journalRecord }, file);
}
