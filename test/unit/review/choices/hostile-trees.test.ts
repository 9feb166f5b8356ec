import { describe, expect, it } from 'vitest';
import { auditChanges } from '../../../../src/audit/audit.ts';
import type { Review } from '../../../../src/core/types/review.ts';
import { buildReview } from '../../../../src/review/choices/build-review.ts';
import { textDiff } from '../../../../src/review/choices/file-diff.ts';
import { fileProgress } from '../../../../src/review/choices/file-progress.ts';
import { hunkText, splitHunk } from '../../../../src/review/choices/hunks.ts';
import { chooseAccepted, chooseClean, chooseNothing, chooseSelected } from '../../../../src/review/choices/policy.ts';
import { matchRenames } from '../../../../src/review/choices/renames/match-renames.ts';
import { changeList } from '../../../../src/review/screen/change-list.ts';
import { expectLinear } from '../../../support/expect-linear.ts';
import { HOSTILE_SHAPES, type HostileTree, hostileTree } from '../../../support/hostile-trees.ts';

const collected = ({ changes }: HostileTree) => ({ changes, problems: [], withheld: [], baseEntries: 100_000 });

function prepared(shape: string, n: number) {
  const tree = hostileTree(shape, n);
  const findings = auditChanges(tree);
  const build = (): Review =>
    buildReview({ collected: collected(tree), findings, allowSuspect: ['/none'], includeIgnored: false });
  return { tree, build, review: build() };
}

const READ = {
  'is built': ({ build }) => void build(),
  'is chosen from by --yes': ({ review }) => void chooseClean(review, { only: ['*'], skip: ['none'] }),
  'is chosen from by y': ({ review }) => void chooseAccepted(review, new Set(), new Map()),
  'is chosen from one by one': ({ review }) => void chooseSelected(review, new Map()),
  'is left for later': ({ review }) => void fileProgress(review, chooseNothing(review).left),
  'is listed': ({ review }) => void changeList(review, { colour: false }),
  'is searched for renames': async ({ tree }) => {
    const frozen = async ({ digest }: { readonly digest?: Parameters<typeof tree.content>[0] | undefined }) =>
      digest === undefined ? undefined : tree.content(digest);
    await matchRenames(tree.changes, [], { frozen, withheld: async () => undefined, digest: async () => undefined });
  },
} satisfies Readonly<Record<string, (input: ReturnType<typeof prepared>) => void | Promise<void>>>;

/** Contents of one size are compared each with each, up to a limit. */
const HAS_OWN_LIMIT = new Set(['is searched for renames, many files that became folders']);

describe.each(HOSTILE_SHAPES)('the review of %s', (shape) => {
  const views = Object.entries(READ).filter(([how]) => !HAS_OWN_LIMIT.has(`${how}, ${shape}`));
  it.each(views)('%s in steps that grow with it', async (how, read) => {
    // A short list has no folders.
    await expectLinear((n) => prepared(shape, n), read, { n: how === 'is listed' ? 160 : 64 });
  });
});

it.each(['one file with many hunks', 'one large hunk'])(
  '%s is compared, split and written in steps that grow with it',
  async (shape) => {
    const contents = (n: number): Buffer[] => {
      const { changes, content } = hostileTree(shape, n);
      const [change] = changes;
      return [change?.before, change?.after].map((one) => content(one?.digest as never) as Buffer);
    };
    await expectLinear(contents, ([before, after]) => {
      const diff = textDiff(before as Buffer, after as Buffer);
      const hunks = 'hunks' in diff ? diff.hunks : [];
      const parts = hunks.flatMap(splitHunk);
      expect(parts.length).toBeGreaterThan(10);
      for (const part of parts) hunkText(part);
    });
  },
);
