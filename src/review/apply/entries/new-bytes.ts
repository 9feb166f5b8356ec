import type { Change, Digest, Entry } from '../../../core/types/entry.ts';
import type { ChosenChange } from '../../../core/types/review.ts';
import type { ChangeVerdict } from '../../../core/types/session.ts';
import type { ApplyRequest } from '../apply-request.ts';

/** Bytes that go to the host, or why they do not. */
export type NewBytes =
  | { readonly digest: Digest; readonly size: number }
  | { readonly verdict: ChangeVerdict; readonly why: string };

export interface Made {
  /** What they are, for the reason: 'the merged file'. */
  readonly what: string;
  /** What they stand next to in the audit; undefined: nothing was there. */
  readonly before: { readonly entry: Entry; readonly content: Buffer } | undefined;
  /** Kind and mode that they get. */
  readonly after: Entry;
  readonly content: Buffer;
}

/**
 * Freezes bytes that no session wrote as they are (a merge, chosen parts, an edit) and puts them through the audit: a
 * blocked finding holds them back, a suspect one too unless the change was chosen by name. Throws as the store does.
 */
export async function freezeNewBytes(one: ChosenChange, made: Made, request: ApplyRequest): Promise<NewBytes> {
  const { digest, size } = await request.store.put([made.content]);
  const contents = new Map<Digest, Buffer>([[digest, made.content]]);
  if (made.before?.entry.digest !== undefined) contents.set(made.before.entry.digest, made.before.content);
  const change: Change = {
    path: one.change.path,
    kind: made.before === undefined ? 'created' : 'modified',
    ...(made.before && { before: made.before.entry }),
    after: { ...made.after, digest, size },
  };
  const findings = await request.audit(change, contents);
  for (const severity of one.suspect ? (['blocked'] as const) : (['blocked', 'suspect'] as const)) {
    const finding = findings.find((candidate) => candidate.severity === severity);
    if (finding !== undefined) return { verdict: severity, why: `${made.what}: ${finding.why}` };
  }
  return { digest, size };
}
