import type { Entry } from '../../core/types/entry.ts';
import type { ChosenChange } from '../../core/types/review.ts';
import type { ChangeVerdict } from '../../core/types/session.ts';
import type { ApplyRequest, Preparing } from './apply-request.ts';
import { freezeNewBytes, type Made } from './entries/new-bytes.ts';

/** Chosen parts of a file are new bytes that the session never left as they are: they are audited again. */
export async function chosenParts(
  one: ChosenChange,
  content: Buffer,
  { request }: Preparing,
): Promise<Entry | { readonly verdict: ChangeVerdict; readonly why: string } | undefined> {
  const { after } = one.change;
  if (after === undefined) return undefined;
  const made = { what: 'the chosen parts alone', before: await frozenBefore(one, request), after, content };
  const frozen = await freezeNewBytes(one, made, request);
  return 'verdict' in frozen ? frozen : { ...after, ...frozen };
}

/** The path as it was before the session, with which the audit compares new bytes. */
async function frozenBefore({ change: { before } }: ChosenChange, { store }: ApplyRequest): Promise<Made['before']> {
  if (before === undefined) return undefined;
  return { entry: before, content: before.digest === undefined ? Buffer.alloc(0) : await store.read(before.digest) };
}
