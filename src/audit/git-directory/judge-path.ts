import { isHookName } from '../../core/git/names.ts';
import { nameOfPath } from '../../core/text/path.ts';
import type { Change, Entry } from '../../core/types/entry.ts';
import { oneOf, pattern } from '../formats/words.ts';
import type { Found } from '../general-rules/rule.ts';
import type { Scene } from '../input.ts';
import { judgeGitConfig } from './config.ts';

const ORDINARY: Found = { rule: 'git-data' };
const HOOK: Found = { rule: 'git-hook', case: 'created' };
const MODULES: Found = { rule: 'git-modules' };

/** Files that a commit or checkout writes. */
const ORDINARY_FILES = oneOf`
  head index packed-refs orig_head fetch_head commit_editmsg description gc\.log gc\.pid rr-cache.* sharedindex\..*
  branches logs refs objects info lfs hooks tag_editmsg note_editmsg
`;

/**
 * Files of a git directory by what they do, first match wins. The path is relative to that directory, in lower case.
 */
const PARTS: readonly (readonly [RegExp, Found])[] = [
  [/^hooks\/[^/]*\.sample$/, ORDINARY],
  [/(^|\/)hooks(\/|$)/, HOOK],
  [/^info\/attributes$|\/info\/attributes$/, { rule: 'git-info-attributes' }],
  [/(^|\/)objects\/info\/(http-)?alternates$/, { rule: 'git-alternates' }],
  [/(^|\/)(commondir|gitdir)$/, { rule: 'git-redirect' }],
  // Files that a commit in a submodule or linked worktree writes. The rows above name those that git runs.
  [/^(modules|worktrees)\/.+\/(objects\/(?!info\/)|refs\/(?!replace\/)|logs\/).+$/, ORDINARY],
  [/^(modules|worktrees)\/.+\/(head|index|orig_head|fetch_head|commit_editmsg)$/, ORDINARY],
  [/^(modules|worktrees)(\/|$)/, MODULES],
  [/^(info\/grafts|shallow|refs\/replace(\/|$))/, { rule: 'git-history-lies' }],
  // git gc writes it too.
  [/^objects\/info\/commit-graph/, { rule: 'git-history-lies', case: 'commit-graph' }],
  [
    /^refs\/bisect\/|^(rebase-merge|rebase-apply|sequencer)(\/|$)|^(bisect_(log|start|run|names)|bisect_.*)$/,
    { rule: 'git-half-done' },
  ],
  [
    /^(merge_head|cherry_pick_head|revert_head|rebase_head|auto_merge|squash_msg|merge_msg|merge_mode|merge_rr)$/,
    { rule: 'git-half-done', case: 'commit' },
  ],
  [/^(refs\/stash|logs\/refs\/stash)$/, { rule: 'git-stash' }],
  [/^info\/(exclude|sparse-checkout)$/, { rule: 'git-hides-files' }],
  [/(^|\/)(lazygit\.yml|gitui|magithub|\.gitstatus|gk|gitbutler)(\/|$)/, { rule: 'git-tool-file' }],
  [/\.lock$/, { rule: 'git-lock' }],
  [pattern()`^(${ORDINARY_FILES})($|\/)`, ORDINARY],
];
const UNKNOWN: Found = { rule: 'git-unknown' };
/** A session that removed one of these has finished an operation that the user had begun. */
const DONE_WHEN_REMOVED = new Set(['git-half-done', 'git-stash', 'git-lock', 'git-unknown']);

/**
 * What one change inside a git directory does; `inner` is the path in it. The caller counts ordinary data, of the rule
 * git-data.
 */
export function inGitDirectory(scene: Scene, change: Change, inner: string): readonly Found[] {
  if (inner === '') return gitItself(scene, change);
  const lower = inner.toLowerCase();
  if (/(^|\/)(config|config\.worktree)$/.test(lower) && !/^(refs|logs|objects|lfs\/objects)\//.test(lower))
    return configKeys(scene, change, lower === 'config' && change.before === undefined);
  const found = PARTS.find(([regex]) => regex.test(lower))?.[1] ?? UNKNOWN;
  const part = found === ORDINARY && isNewRepository(change, lower) ? MODULES : found;
  if (change.after?.kind === 'symlink') return [linkIn(change, part)];
  if (part === HOOK) return hook(change, inner);
  if (isWithoutEffect(scene, change, part, lower)) return [];
  const { path } = change;
  if (change.after === undefined)
    return [DONE_WHEN_REMOVED.has(part.rule ?? '') ? ORDINARY : { ...part, isRemoval: true }];
  if (change.after.kind === 'dir') return [];
  // An unfinished rebase is one finding, not one for each of the fifteen files that git keeps of it.
  const operation = /^(rebase-merge|rebase-apply|sequencer)\//i.exec(inner)?.[0];
  if (operation === undefined) return [part];
  return [{ ...part, path: path.slice(0, path.length - inner.length + operation.length - 1) }];
}

/** Comments alone, or the pointer that git itself writes for a worktree. */
function isWithoutEffect(scene: Scene, change: Change, { rule }: Found, inner: string): boolean {
  if (rule === 'git-info-attributes' || rule === 'git-hides-files') {
    const isReadable = change.after?.kind !== 'file' || scene.text(change.after) !== undefined;
    return isReadable && scene.added(change).every((line) => line.text.startsWith('#'));
  }
  const isPointer = rule === 'git-redirect' && /^worktrees\/[^/]+\/commondir$/.test(inner);
  return isPointer && scene.text(change.after)?.trim() === '../..';
}

function linkIn({ after }: Change, part: Found): Found {
  const detail = after?.target;
  if (part === HOOK) return { rule: 'git-hook', case: 'linked', detail };
  if (part === ORDINARY) return { rule: 'git-link', detail };
  return { rule: part.rule ?? 'git-link', wordsOf: 'git-link', detail };
}

/** Whether a submodule or worktree is new: its HEAD stands for it. */
function isNewRepository({ before }: Change, inner: string): boolean {
  return before === undefined && /^(modules|worktrees)\/.+\/head$/.test(inner) && !/\/(refs|logs)\//.test(inner);
}

function hook({ kind, before, after }: Change, inner: string): readonly Found[] {
  const name = nameOfPath(inner);
  if (after === undefined)
    return before?.kind === 'file' && !/\.sample$/.test(name) ? [{ rule: 'git-hook', case: 'removed' }] : [];
  if (after.kind === 'dir' || /^readme/i.test(name)) return [];
  if (after.kind === 'file' && after.size === 0 && before !== undefined) return [{ rule: 'git-hook', case: 'emptied' }];
  // Git runs only a file with the name of a hook, and on Unix only one that can be executed.
  if (kind === 'created' && !isHookName(name) && /\.(txt|md)$/i.test(name) && (after.mode & 0o111) === 0)
    return [ORDINARY];
  const unknownName = isHookName(name) ? undefined : 'not a hook that git names, but in a hooks directory';
  const detail = kind === 'mode' ? 'now executable' : unknownName;
  return [{ rule: 'git-hook', case: kind === 'created' ? 'created' : 'changed', detail }];
}

/** `.git` itself: a file or link redirects git. */
function gitItself(scene: Scene, { path, before, after }: Change): readonly Found[] {
  if (after === undefined || (after.kind === 'dir' && before?.kind === 'dir')) return [];
  if (after.kind === 'dir') return path === '.git' && before === undefined ? [] : [{ rule: 'git-nested' }];
  if (after.kind === 'symlink') return [{ rule: 'git-redirect', case: 'link', detail: after.target }];
  return [{ rule: 'git-redirect', case: 'file', detail: scene.text(after)?.slice(0, 200) }];
}

/** One finding for each key of a git configuration that counts. */
function configKeys(scene: Scene, { before, after }: Change, isNewRepository: boolean): readonly Found[] {
  if (after?.kind === 'symlink') return [{ rule: 'git-config', case: 'link', detail: after.target ?? '' }];
  const isUnreadable = (entry: Entry | undefined): boolean => entry?.kind === 'file' && scene.text(entry) === undefined;
  if (isUnreadable(after) || isUnreadable(before)) return [{ rule: 'git-config', case: 'unreadable' }];
  const old = isNewRepository ? undefined : (scene.text(before) ?? '');
  return judgeGitConfig(old, scene.text(after));
}
