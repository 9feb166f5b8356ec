import type { ChangeKind, Entry } from '../types/entry.ts';

/** What became of one path; at least one side is there. `sameContent` tells a change of mode from one of content. */
export function kindOfChange(before: Entry | undefined, after: Entry | undefined, sameContent: boolean): ChangeKind {
  if (before === undefined) return 'created';
  if (after === undefined) return 'deleted';
  if (before.kind !== after.kind) return 'type';
  return sameContent ? 'mode' : 'modified';
}
