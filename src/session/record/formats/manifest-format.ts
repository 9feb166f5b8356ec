import {
  fields,
  flag,
  listOf,
  mapOf,
  number,
  oneOf,
  optional,
  type RecordFormat,
  relPath,
  text,
} from '../../../core/store/parse-record.ts';
import type { ClaudeAttempt, ClaudeChange, ClaudeData, KeptFile } from '../../../core/types/agent/claude-data.ts';
import type {
  Change,
  Entry,
  LeftMember,
  MaskedEdit,
  Problem,
  Rename,
  WithheldGroup,
} from '../../../core/types/entry.ts';
import type { Finding } from '../../../core/types/finding.ts';
import type { CollectedRecord } from '../../../core/types/session.ts';

const entry = fields<Entry>({
  kind: oneOf('file', 'dir', 'symlink', 'fifo', 'socket', 'char', 'block'),
  mode: number,
  size: number,
  mtimeNs: text,
  digest: optional(text),
  target: optional(text),
  linkGroup: optional(text),
  allocated: optional(number),
});

const change = fields<Change>({
  path: relPath,
  kind: oneOf('created', 'modified', 'deleted', 'mode', 'type'),
  before: optional(entry),
  after: optional(entry),
  problem: optional(text),
  ignored: optional(flag),
  unignored: optional(text),
  inGit: optional(flag),
});

/** A finding about the changes as a whole, such as many-changes, has the path '.'. */
const findingPath: typeof relPath = (value) => (value === '.' ? undefined : relPath(value));

const finding = fields<Finding>({
  rule: text,
  severity: oneOf('blocked', 'suspect', 'note'),
  path: findingPath,
  title: text,
  why: text,
  detail: optional(text),
  line: optional(number),
});

const claude = fields<ClaudeData>({
  changes: listOf(
    fields<ClaudeChange>({
      path: text,
      how: oneOf('append', 'create', 'replace'),
      verdict: oneOf('clean', 'blocked', 'suspect'),
      digest: text,
      size: number,
      prefix: optional(number),
      before: optional(text),
    }),
  ),
  attempts: listOf(fields<ClaudeAttempt>({ path: text, digest: text, size: number, before: optional(text) })),
  findings: listOf(finding),
  conversation: optional(text),
  kept: optional(listOf(fields<KeptFile>({ path: text, digest: text, size: number }))),
  dropped: mapOf(number),
});

/** `manifest` next to session.json: what was collected from a session, with the findings of the audit. */
export const MANIFEST_FORMAT: RecordFormat<CollectedRecord> = {
  name: 'manifest of changes',
  version: 1,
  check: fields<CollectedRecord>({
    version: oneOf(1),
    changes: listOf(change),
    problems: listOf(fields<Problem>({ path: text, why: text })),
    withheld: listOf(
      fields<WithheldGroup>({ directory: text, unignored: optional(oneOf(true)), entries: number, bytes: number }),
    ),
    baseEntries: number,
    renames: optional(listOf(fields<Rename>({ from: relPath, to: relPath, similarity: number }))),
    uncompared: optional(number),
    leftMembers: optional(listOf(fields<LeftMember>({ path: relPath, entry: optional(entry) }))),
    maskedEdits: optional(listOf(fields<MaskedEdit>({ path: text, added: listOf(text) }))),
    findings: listOf(finding),
    unaudited: optional(text),
    unjudged: optional(fields<NonNullable<CollectedRecord['unjudged']>>({ by: text, endedNs: text })),
    claude: optional(claude),
  }),
  hint: 'Nothing of the session was applied by this command. Discard the session, or restore the file from a backup.',
};
