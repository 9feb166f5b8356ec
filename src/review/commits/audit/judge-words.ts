import type { RelPath } from '../../../core/text/path.ts';
import type { Finding } from '../../../core/types/finding.ts';

/** Where a finding on a message or a branch's name is; `--allow-suspect` takes these words. */
const MESSAGE = 'commit-message' as RelPath;
const BRANCH = 'branch-name' as RelPath;

/** Where git mailinfo takes the patch of a mail to begin; a quoted or indented diff is text. */
const PATCH_BEGINS = /^(?:diff -|Index: )|^--- \S[^\n]*\n\+\+\+ \S/m;
/** Lines at the beginning of the body that git am takes for the header of the mail. */
const HEADER = /^[^\n]*\n\s*\n(?:From|Date|Subject): /;

/** What a commit's message makes `git format-patch | git am` do; undefined for a message that is only read. */
export function judgeMessage(message: string): Finding | undefined {
  const patch = PATCH_BEGINS.exec(message);
  const header = HEADER.exec(message);
  const at = patch ?? header;
  if (at === null) return undefined;
  const line = message
    .slice(at.index)
    .split('\n')
    .find((one) => /^(diff|Index|---|From|Date|Subject)/.test(one));
  return {
    rule: 'commit-message',
    severity: 'suspect',
    path: MESSAGE,
    title: patch === null ? 'Commit message with the header of a mail' : 'Commit message with a diff',
    why:
      patch === null
        ? 'git am takes author, date or subject from it.'
        : 'git format-patch and git am apply it as a part of the commit: it makes files that the commit does not have.',
    detail: (line ?? '').slice(0, 200),
  };
}

/** Characters that a shell leaves alone, and letters of any script. */
const PLAIN_BRANCH = /^[\p{L}\p{N}\p{M}_./@#+=,-]+$/u;

/** A branch whose name a script that does not quote it runs; undefined for any other name. */
export function judgeBranchName(branch: string): Finding | undefined {
  if (PLAIN_BRANCH.test(branch)) return undefined;
  return {
    rule: 'commit-branch',
    severity: 'suspect',
    path: BRANCH,
    title: 'Branch name with shell syntax',
    why: 'A prompt, hook or CI script that does not quote the name runs it.',
    detail: branch,
  };
}
