const REMEDIES: ReadonlyArray<readonly [RegExp, string]> = [
  [
    /^ENOSPC\b/,
    'That disk is full, of bytes or of files. `run-claude discard ID` throws a session away without reading it, and `run-claude gc` removes what no session needs.',
  ],
  [/^EDQUOT\b|^Unknown system error -(122|69)\b/, 'Your quota on that disk is used up: free some space there.'],
  [/^EROFS\b/, 'That disk is mounted read-only: mount it writable, or name another directory by the XDG variables.'],
  [
    /^(EACCES|EPERM)\b/,
    'You may not do that there: is it owned by another user (a run as root)? Make the directory yours.',
  ],
  [
    /^(EMFILE|ENFILE)\b/,
    'Too many files are open: end other programs, or raise the limit (`ulimit -n`). Nothing is lost: run the command again.',
  ],
  [
    /^(spawn|fork)\b.* (EAGAIN|ENOMEM)\b|^(ENOMEM|EAGAIN)\b/,
    'This machine has no memory left, or takes no more processes (`ulimit -u`): end other programs. Nothing is lost: run the command again.',
  ],
  [/^EIO\b/, "The disk itself fails: see the system's log."],
];

/** Whether a system error, or one that it caused, says that a disk or a quota is full. */
export function isFullDisk(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause)
    if (/^ENOSPC\b|^EDQUOT\b|^Unknown system error -(122|69)\b/.test(at.message)) return true;
  return false;
}

/** What the user can do about a system error in a directory of run-claude's; undefined for errors without advice. */
export function remedyOf({ message }: Error): string | undefined {
  return REMEDIES.find(([pattern]) => pattern.test(message))?.[1];
}
