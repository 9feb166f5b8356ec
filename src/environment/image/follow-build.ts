import type { OpenProgress } from '../../core/progress/open-progress.ts';

/** 'Step 4/23 : RUN apt-get update'; Podman writes 'STEP 4/23: RUN apt-get update', with '[2/2] ' before it in a stage. */
const STEP = /^(\[\d+\/\d+\] )?STEP (\d{1,5})\/(\d{1,5}) ?: (.*)/i;
/** The builder's own words about layers and containers, which say nothing about what runs. */
const OWN_WORDS = /^(?: ?--->|Removing intermediate container|Successfully (?:built|tagged))/;

interface Step {
  readonly stage: string;
  readonly number: number;
  readonly total: number;
}

/**
 * Takes each piece of a build's output: shows which step runs, and the last line that it printed. What a step itself prints
 * comes the same way as the builder's words: a line counts as a step only where the builder can say it next.
 */
export function followBuild(progress: OpenProgress): (piece: string) => void {
  let last: Step | undefined;
  return (piece) => {
    const [, stage = '', number, total, instruction = ''] = STEP.exec(piece) ?? [];
    const step = number === undefined ? undefined : { stage, number: Number(number), total: Number(total) };
    if (step !== undefined && canFollow(last, step)) {
      last = step;
      progress.count({ done: step.number - 1, total: step.total, unit: 'steps' }, instruction.trimEnd());
    } else if (!OWN_WORDS.test(piece)) progress.output(piece);
  };
}

/** The number after the last one, of as many steps; the first step of another stage. */
function canFollow(last: Step | undefined, { stage, number, total }: Step): boolean {
  if (last === undefined) return true;
  if (stage !== last.stage) return number === 1;
  return number === last.number + 1 && total === last.total;
}
