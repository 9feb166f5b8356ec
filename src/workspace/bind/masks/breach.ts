import { RunClaudeError } from '../../../core/errors.ts';
import { shellWord } from '../../../core/text/shell-word.ts';

/** Why the masks of a bind session no longer hold, or can no longer be watched. */
export type Breach =
  | { readonly kind: 'replaced' | 'removed' | 'linked' | 'appeared' | 'copy' | 'secret'; readonly path: string }
  | { readonly kind: 'unwatched'; readonly why: string };

/** The file that a mount covers, as lstat shows it. */
export interface FileIdentity {
  readonly dev: bigint;
  readonly ino: bigint;
  readonly nlink: bigint;
}

/**
 * Whether the file that was covered is no longer the one that its name leads to, or has one more name. A mount covers a
 * file, not a name: the kernel drops it when another file takes the name. Pure.
 */
export function breachOfCovered(
  path: string,
  covered: FileIdentity,
  now: FileIdentity | undefined,
): Breach | undefined {
  if (now === undefined) return { kind: 'removed', path };
  if (now.ino !== covered.ino || now.dev !== covered.dev) return { kind: 'replaced', path };
  return now.nlink > covered.nlink ? { kind: 'linked', path } : undefined;
}

const WHAT_HAPPENED: Readonly<Record<Exclude<Breach['kind'], 'unwatched'>, string>> = {
  replaced: 'was replaced while the agent ran, so its mask no longer covers it',
  removed: 'was renamed or deleted while the agent ran, so its mask no longer covers its name',
  linked: 'got a second name (a hard link) while the agent ran, which its mask does not cover',
  appeared: 'appeared while the agent ran, and --mask names it. Nothing shows whether you or the agent made it',
  copy: 'appeared while the agent ran, with the content or a secret of a masked file, which the agent does not have',
  secret:
    'appeared while the agent ran, with a secret that the agent had not seen. Nothing shows whether you or the agent made it',
};

/** The error that ends a session whose masks do not hold any more. */
export function breachError(breach: Breach): RunClaudeError {
  const what =
    breach.kind === 'unwatched'
      ? `masked files can no longer be watched: ${breach.why}`
      : `${breach.path} ${WHAT_HAPPENED[breach.kind]}`;
  return new RunClaudeError('MASK_BROKEN', what, {
    hint: `The agent was stopped at once, but may have read it in that moment. ${wayOn(breach)}`,
  });
}

function wayOn(breach: Breach): string {
  if (breach.kind === 'copy') return 'Start a new session to go on. A file that stays is masked where git ignores it.';
  if (breach.kind !== 'secret') return 'Start a new session to go on.';
  return `Start a new session: it masks the file. If the agent made it, and is to read it: --unmask ${shellWord(breach.path)}.`;
}

/** The error for masks that cannot be watched from the start: nothing would notice that one no longer covers its file. */
export function unwatchedError(why: string, cause?: unknown): RunClaudeError {
  return new RunClaudeError('MASK_UNWATCHED', `the masked files of this project cannot be watched: ${why}`, {
    cause,
    hint: "Work on a copy: --copy in place of --bind. To show the agent the files with secrets: --unmask '**'.",
  });
}
