import type { ChosenChange } from '../../../core/types/review.ts';
import type { Step } from '../disk/steps/steps.ts';

/** Coarser than what a file system and Node can set. */
const APART_NS = 1_000n;

/**
 * The steps, the files that they write with times from `nowNs` on, in the order in which the session wrote them. Build tools
 * compare times: what was generated stays newer than its source, and all of it is newer than what was built before. The
 * session's own times could be older than that. RACE: a build that runs during the apply may take a file for older than its
 * own output.
 */
export function inSessionOrder(steps: readonly Step[], chosen: readonly ChosenChange[], nowNs: bigint): Step[] {
  const times = new Map<string, bigint>();
  for (const { change } of chosen)
    if (change.after?.kind === 'file') times.set(change.path, BigInt(change.after.mtimeNs));
  const ranks = new Map<bigint, bigint>();
  const written = steps.flatMap(({ path, post }) => (post?.kind === 'file' ? (times.get(path) ?? []) : []));
  for (const time of written.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0)))
    if (!ranks.has(time)) ranks.set(time, BigInt(ranks.size));
  return steps.map((step) => {
    const rank = ranks.get(times.get(step.path) ?? -1n);
    if (rank === undefined || step.post?.kind !== 'file') return step;
    if (step.pre?.kind === 'file' && step.pre.digest === step.post.digest) return step;
    return { ...step, post: { ...step.post, mtimeNs: String(nowNs + rank * APART_NS) } };
  });
}
