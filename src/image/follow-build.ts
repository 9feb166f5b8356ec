import type { OpenProgress } from '../progress/open-progress.ts';

/** 'Step 4/23 : RUN apt-get update'; Podman writes 'STEP 4/23: RUN apt-get update'. */
const STEP = /^(?:\[\d+\/\d+\] )?STEP (\d{1,5})\/(\d{1,5}) ?: (.*)/i;
/** The builder's own words about layers and containers, which say nothing about what runs. */
const OWN_WORDS = /^(?: ?--->|Removing intermediate container|Successfully (?:built|tagged))/;

/** Takes each piece of a build's output: shows which step runs, and the last line that it printed. */
export function followBuild(progress: OpenProgress): (piece: string) => void {
  return (piece) => {
    const [, step, total, instruction = ''] = STEP.exec(piece) ?? [];
    if (step !== undefined) {
      progress.count({ done: Number(step) - 1, total: Number(total), unit: 'steps' }, instruction.trimEnd());
    } else if (!OWN_WORDS.test(piece)) progress.output(piece);
  };
}
