import { expect, it } from 'vitest';
import { openProgress } from '../../../../src/core/progress/open-progress.ts';
import type { SessionEvent } from '../../../../src/core/types/event.ts';
import { followBuild } from '../../../../src/environment/image/follow-build.ts';

/** The last event after each piece. */
function shown(...pieces: readonly string[]): (SessionEvent | undefined)[] {
  let last: SessionEvent | undefined;
  using progress = openProgress((event) => {
    last = event;
  }, 'Building');
  const follow = followBuild(progress);
  return pieces.map((piece) => {
    follow(piece);
    return last;
  });
}

const at = (done: number, total: number, detail: string) => ({
  kind: 'progress',
  what: 'Building',
  done,
  total,
  unit: 'steps',
  detail,
});

it("shows Docker's steps, and what runs in them, without the builder's own words", () => {
  expect(
    shown(
      'Step 1/23 : FROM scratch\n',
      ' ---> Running in 0123456789ab\n',
      'Step 2/23 : RUN apt-get install gcc\n',
      'Unpacking gcc\n',
      'Removing intermediate container 0123456789ab\n',
      'Successfully built 0123456789ab\n',
    ),
  ).toEqual([
    at(0, 23, 'FROM scratch'),
    at(0, 23, 'FROM scratch'),
    at(1, 23, 'RUN apt-get install gcc'),
    at(1, 23, 'Unpacking gcc'),
    at(1, 23, 'Unpacking gcc'),
    at(1, 23, 'Unpacking gcc'),
  ]);
});

it.each([
  ['Podman', 'STEP 3/9: RUN make\n'],
  ['Podman with several stages', '[2/2] STEP 3/9: RUN make\n'],
])('shows the steps of %s', (_, piece) => {
  expect(shown(piece)).toEqual([at(2, 9, 'RUN make')]);
});

it.each([
  ['other total', 'Step 3/9 : RUN rm -rf /\n'],
  ['number that is not the next', 'Step 4/4 : FROM x\n'],
  ['number that was', 'Step 2/4 : RUN make\n'],
  ['form of another engine', '[1/1] STEP 3/4: RUN x\n'],
  ['first step again', 'Step 1/4 : FROM x\n'],
])('takes a step with another %s for what the running step prints', (_, forged) => {
  const [, , last, next] = shown('Step 1/4 : FROM scratch\n', 'Step 2/4 : RUN make\n', forged, 'Step 3/4 : RUN b\n');
  expect(last).toEqual(at(1, 4, forged.trim()));
  expect(next).toEqual(at(2, 4, 'RUN b'));
});

it('follows the stages of Podman, of which each counts anew', () => {
  const pieces = ['[1/2] STEP 1/2: FROM a\n', '[1/2] STEP 2/2: RUN a\n', '[2/2] STEP 1/3: FROM b\n'];
  expect(shown(...pieces)).toEqual([at(0, 2, 'FROM a'), at(1, 2, 'RUN a'), at(0, 3, 'FROM b')]);
});
