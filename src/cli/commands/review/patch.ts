import { readFileSync } from 'node:fs';
import path from 'node:path';
import { findRepository } from '../../../core/host/facts.ts';
import type { ContentReader } from '../../../core/types/entry.ts';
import type { ReviewItem } from '../../../core/types/review.ts';
import type { SessionRecord } from '../../../core/types/session.ts';
import { patchOf, whyNotInPatch } from '../../../review/screen/diff/git-patch.ts';
import { findingLines, tellLines } from '../../../review/screen/finding-lines.ts';
import { cleanLine } from '../../../terminal/clean.ts';
import { openOutput } from '../../../terminal/page-output.ts';
import type { CommandContext } from '../../context/context.ts';

/** More are only counted. */
const MAX_NAMED = 10;

/**
 * `diff --patch`: the changes as `git apply` takes them, on stdout or in the pager. Messages go to stderr: what is suspect in
 * the patch, and what of the changes it does not have.
 */
export async function writePatch(
  items: readonly ReviewItem[],
  { plan }: SessionRecord,
  { content, context }: { readonly content: ContentReader; readonly context: CommandContext },
): Promise<void> {
  const { env, interruption, tell } = context;
  const { root } = plan.project;
  const shown = items.filter(({ change }) => !change.path.startsWith('~/.claude/'));
  const own = shown.filter((item) => whyNotInPatch(item) === undefined);
  const suspect = own.flatMap(({ findings, state }) =>
    state === 'suspect' ? findings.filter(({ severity }) => severity === 'suspect') : [],
  );
  tellLines(findingLines(suspect), tell);
  const left = [
    ...shown.flatMap((item) => {
      const why = whyNotInPatch(item);
      return why === undefined ? [] : [`${cleanLine(item.change.path)} (${why})`];
    }),
    ...(shown.length < items.length ? ["Claude's data"] : []),
  ];
  for (const name of left.slice(0, MAX_NAMED))
    tell({ kind: 'message', level: 'warning', text: `Not in the patch: ${name}` });
  if (left.length > MAX_NAMED)
    tell({ kind: 'message', level: 'warning', text: `Not in the patch: ${left.length - MAX_NAMED} more` });
  if (left.length > 0) tell({ kind: 'message', level: 'info', text: 'run-claude diff --view shows them.' });
  const top = findRepository(root);
  const folder = top === undefined || top === root ? '' : `${path.relative(top, root)}/`;
  const options = { content, folder, hash: objectHash(plan.project.gitCommonDir ?? (top && path.join(top, '.git'))) };
  await using output = openOutput({ stdout: process.stdout, env, interruption });
  for (const item of own)
    for await (const piece of patchOf(item, options)) {
      if (output.unread.aborted || interruption.signal.aborted) return;
      await output.write(piece);
    }
}

/** How the user's repository names objects: git checks the names in a binary patch. */
function objectHash(gitDirectory: string | undefined): 'sha1' | 'sha256' {
  if (gitDirectory === undefined) return 'sha1';
  try {
    const config = readFileSync(path.join(gitDirectory, 'config'), 'utf8');
    return /^\s*objectformat\s*=\s*"?sha256\b/im.test(config) ? 'sha256' : 'sha1';
  } catch {
    return 'sha1';
  }
}
