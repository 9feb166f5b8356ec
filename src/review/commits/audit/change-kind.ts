import type { ChangeKind, Entry } from '../../../core/types/entry.ts';

/** The kind of a change; at least one side is defined. `sameContent` tells a change of mode from one of content. */
export function kindOfChange(before: Entry | undefined, after: Entry | undefined, sameContent: boolean): ChangeKind {
  if (before === undefined) return 'created';
  if (after === undefined) return 'deleted';
  if (before.kind !== after.kind) return 'type';
  return sameContent ? 'mode' : 'modified';
}
