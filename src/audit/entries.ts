import type { Change } from '../types/entry.ts';
import type { Severity } from '../types/finding.ts';
import type { Hit, Scene } from './input.ts';
import { resolveInBase } from './links.ts';

const SPECIAL: Readonly<Record<string, string>> = {
  fifo: 'a FIFO',
  socket: 'a socket',
  char: 'a character device',
  block: 'a block device',
};
const SET_ID = 0o6000;
const EXECUTE = 0o111;
const LARGE = 100 << 20;

/** What kind, mode, size and times of a changed entry say. */
export function entryHits(scene: Scene, change: Change): Hit[] {
  const { before, after } = change;
  if (after === undefined) return [];
  const hits: Hit[] = [];
  const say = (rule: string, severity: Severity, title: string, why: string, detail?: string): void =>
    void hits.push({ rule, severity, path: change.path, title, why, ...(detail === undefined ? {} : { detail }) });
  const special = SPECIAL[after.kind];
  if (special !== undefined)
    say('special-file', 'blocked', 'Special file', 'Tools hang on it or read a device.', special);
  const setId = after.mode & SET_ID & ~(before?.mode ?? 0);
  if (setId !== 0)
    say(
      'setuid',
      'blocked',
      'Setuid or setgid bit',
      'It runs with the rights of its owner.',
      (after.mode & 0o7777).toString(8),
    );
  if ((after.mode & 0o002) !== 0 && ((before?.mode ?? 0) & 0o002) === 0 && after.kind !== 'symlink')
    say(
      'world-writable',
      'note',
      'Writable for everybody',
      'Every user of the machine can change it.',
      (after.mode & 0o7777).toString(8),
    );
  if (before !== undefined && before.kind !== after.kind) {
    const isCopy = isCopyOfTarget(scene, change);
    say(
      'type-change',
      isCopy ? 'note' : 'suspect',
      'Changed its kind',
      'What was one kind of entry is another now.',
      isCopy ? 'a link to a copy of the linked file' : `${before.kind} to ${after.kind}`,
    );
  }
  if (after.kind !== 'file') return hits;
  const bytes = scene.bytes(after);
  if (bytes === 'unreadable')
    say('unreadable', 'blocked', 'Unreadable change', 'Its frozen content is missing or damaged.');
  else if (before?.digest !== undefined && scene.bytes(before) === 'unreadable')
    say(
      'unreadable',
      'blocked',
      'Unreadable change',
      'What it held before the session is missing or damaged: neither a diff nor a merge can be made of it.',
    );
  if ((after.mode & EXECUTE) !== 0 && ((before?.mode ?? 0) & EXECUTE) === 0) {
    const script = Buffer.isBuffer(bytes) && bytes.subarray(0, 2).toString('latin1') === '#!';
    if (script || before === undefined)
      say('execute-bit', 'note', 'New execute bit', 'It can be started by name.', script ? 'a script' : undefined);
    else say('execute-bit-odd', 'suspect', 'New execute bit', 'A file that was no program can now be started by name.');
  }
  if (after.linkGroup !== undefined) hits.push(...hardLink(scene, change));
  if (after.size >= LARGE)
    say(
      'large-file',
      'note',
      'Very large file',
      'Copying, indexing and backups have to read it.',
      `${Math.round(after.size / (1 << 20))} MB, of which the beginning and the end were looked into`,
    );
  if (after.allocated !== undefined && after.size > 1 << 20 && after.allocated * 16 < after.size)
    say(
      'sparse-file',
      'suspect',
      'Sparse file',
      'It takes far more room wherever it is copied.',
      `${after.allocated} of ${after.size} bytes allocated`,
    );
  const { endedNs } = scene.input;
  if (
    endedNs !== undefined &&
    (BigInt(after.mtimeNs) > BigInt(endedNs) + 86_400_000_000_000n || BigInt(after.mtimeNs) < 86_400_000_000_000n)
  )
    say(
      'odd-time',
      'note',
      'Time stamp outside the session',
      'Build tools take it for newer or older than everything.',
    );
  return hits;
}

function hardLink(scene: Scene, change: Change): Hit[] {
  const group = change.after?.linkGroup;
  if (group === change.before?.linkGroup && change.kind !== 'created') return [];
  const partners = scene.input.changes
    .filter((one) => one.path !== change.path && one.after?.linkGroup === group)
    .map((one) => one.path);
  const detail = partners.length === 0 ? 'another name outside what changed' : `same file as ${partners[0]}`;
  return [
    {
      rule: 'hard-link',
      severity: 'suspect',
      path: change.path,
      title: 'Hard link',
      why: 'Editing one name changes the other. It is applied as a file of its own.',
      detail,
    },
  ];
}

/** Whether a link was replaced by a file with the content of the file that it led to before: all who read it read the same. */
function isCopyOfTarget({ input: { base }, bytes }: Scene, { path, before, after }: Change): boolean {
  if (base === undefined || before?.kind !== 'symlink' || before.target === undefined) return false;
  const linked = resolveInBase(base.linkTarget, path, before.target);
  const was = linked === undefined ? undefined : base.read(linked);
  const is = bytes(after);
  return was !== undefined && Buffer.isBuffer(is) && was.equals(is);
}
