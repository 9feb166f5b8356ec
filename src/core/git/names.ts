/** Characters that HFS+ ignores when it compares names (git's utf8.c, next_hfs_char). */
const HFS_IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/**
 * Whether a path component is `.git` to some file system: by letter case, by characters that HFS+ ignores, by NTFS's
 * short names, trailing dots and blanks, or alternate streams. Takes one component without '/'.
 */
export function isDotGitName(component: string): boolean {
  // Nearly every name: ASCII without the three letters.
  if (!/git|[^\u0000-\u007f]/i.test(component)) return false;
  const bare = component.replace(HFS_IGNORED, '').normalize('NFKC').toLowerCase();
  for (const part of bare.split('\\')) {
    const name = part.replace(/:.*$/s, '').replace(/[ .]+$/, '');
    if (name === '.git' || /^git~[0-9]+$/.test(name)) return true;
  }
  return false;
}

/** The number of components of a path up to and including its first `.git` name; 0 when it has none. */
export function dotGitDepth(path: string): number {
  return path.split('/').findIndex(isDotGitName) + 1;
}

/** Whether git treats this path component as its directory on a case-sensitive file system. */
export function isPlainDotGit(component: string): boolean {
  return component === '.git';
}

/** Whether a path is such a directory or is inside one. */
export function isInDotGit(path: string): boolean {
  // Nearly every path needs only this test.
  return path.includes('.git') && path.split('/').some(isPlainDotGit);
}

const HOOK_NAMES = new Set(
  `applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg post-commit
   pre-rebase post-checkout post-merge pre-push pre-receive update proc-receive post-receive post-update
   reference-transaction push-to-checkout pre-auto-gc post-rewrite sendemail-validate fsmonitor-watchman
   p4-changelist p4-prepare-changelist p4-post-changelist p4-pre-submit post-index-change`.split(/\s+/),
);

/** Whether git, some version or tool of it, runs a file of this name in a hooks directory. */
export function isHookName(name: string): boolean {
  const lower = name.toLowerCase().replace(/\.(exe|bat|cmd|com|ps1|sh|py|js)$/, '');
  return HOOK_NAMES.has(lower);
}
