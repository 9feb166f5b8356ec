import type { Step } from './steps.ts';

/** A step with its place in the journal. */
export interface Numbered {
  readonly step: Step;
  readonly number: number;
}

const MAX_BATCH_STEPS = 400;
const MAX_BATCH_BYTES = 64 * 2 ** 20;

/** Deletions never share a batch with writes, nor clean changes with suspect ones that were chosen by name. */
export function* batchesOf(steps: readonly Step[]): Generator<readonly Numbered[]> {
  let batch: Numbered[] = [];
  let bytes = 0;
  for (const [number, step] of steps.entries()) {
    const size = step.post?.size ?? 0;
    const last = batch.at(-1)?.step;
    const whole = batch.length === MAX_BATCH_STEPS || bytes + size > MAX_BATCH_BYTES;
    if (last !== undefined && (whole || sortOf(last) !== sortOf(step))) {
      yield batch;
      [batch, bytes] = [[], 0];
    }
    batch.push({ step, number });
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

function sortOf({ post, late }: Step): 'deletion' | 'late' | 'other' {
  if (post === undefined) return 'deletion';
  return late ? 'late' : 'other';
}

/** Whether a step that failed left its path as it was. */
export function canRepeat({ pre, post, inPlace }: Step): boolean {
  return inPlace !== true && (pre === undefined || post === undefined || pre.kind === post.kind);
}
