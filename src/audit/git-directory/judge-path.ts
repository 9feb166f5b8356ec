import { isHookName } from '../../core/git/names.ts';
import { nameOfPath } from '../../core/text/path.ts';
import type { Change, Entry } from '../../core/types/entry.ts';
import { oneOf, pattern } from '../formats/words.ts';
import { type Hit, hitOf, placeOf, type RuleWords, textOf } from '../hit.ts';
import type { Scene } from '../input.ts';
import { judgeGitConfig } from './config.ts';

const ORDINARY = textOf('git-data');
const HOOK = textOf('git-hook', 'created');
const MODULES = textOf('git-modules');

/** Files that a commit or checkout writes. */
const ORDINARY_FILES = oneOf`
  head index packed-refs orig_head fetch_head commit_editmsg description gc\.log gc\.pid rr-cache.* sharedindex\..*
  branches logs refs objects info lfs hooks tag_editmsg note_editmsg
`;

/**
 * Files of a git directory by what they do, first match wins. The path is relative to that directory, in lower case.
 */
const PARTS: readonly (readonly [RegExp, RuleWords])[] = [
  [/^hooks\/[^/]*\.sample$/, ORDINARY],
  [/(^|\/)hooks(\/|$)/, HOOK],
  [/^info\/attributes$|\/info\/attributes$/, textOf('git-info-attributes')],
  [/(^|\/)objects\/info\/(http-)?alternates$/, textOf('git-alternates')],
  [/(^|\/)(commondir|gitdir)$/, textOf('git-redirect')],
  // Files that a commit in a submodule or linked worktree writes. The rows above name those that git runs.
  [/^(modules|worktrees)\/.+\/(objects\/(?!info\/)|refs\/(?!replace\/)|logs\/).+$/, ORDINARY],
  [/^(modules|worktrees)\/.+\/(head|index|orig_head|fetch_head|commit_editmsg)$/, ORDINARY],
  [/^(modules|worktrees)(\/|$)/, MODULES],
  [/^(info\/grafts|shallow|refs\/replace(\/|$))/, textOf('git-history-lies')],
  // git gc writes it too.
  [/^objects\/info\/commit-graph/, textOf('git-history-lies', 'commit-graph')],
  [
    /^refs\/bisect\/|^(rebase-merge|rebase-apply|sequencer)(\/|$)|^(bisect_(log|start|run|names)|bisect_.*)$/,
    textOf('git-half-done'),
  ],
  [
    /^(merge_head|cherry_pick_head|revert_head|rebase_head|auto_merge|squash_msg|merge_msg|merge_mode|merge_rr)$/,
    textOf('git-half-done', 'commit'),
  ],
  [/^(refs\/stash|logs\/refs\/stash)$/, textOf('git-stash')],
  [/^info\/(exclude|sparse-checkout)$/, textOf('git-hides-files')],
  [/(^|\/)(lazygit\.yml|gitui|magithub|\.gitstatus|gk|gitbutler)(\/|$)/, textOf('git-tool-file')],
  [/\.lock$/, textOf('git-lock')],
  [pattern()`^(${ORDINARY_FILES})($|\/)`, ORDINARY],
];
const UNKNOWN = textOf('git-unknown');
/** A session that removed one of these has finished an operation that the user had begun. */
const DONE_WHEN_REMOVED = new Set(['git-half-done', 'git-stash', 'git-lock', 'git-unknown']);

/**
 * Judges one change inside a git directory; `inner` is the path in it.
 * Ordinary data is counted by the caller: such hits have the rule git-data.
 */
export function judgeGitPath(scene: Scene, change: Change, inner: string): Hit[] {
  if (inner === '') return judgeGitItself(scene, change);
  const lower = inner.toLowerCase();
  if (/(^|\/)(config|config\.worktree)$/.test(lower) && !/^(refs|logs|objects|lfs\/objects)\//.test(lower))
    return configHits(scene, change, lower === 'config' && change.before === undefined);
  const found = PARTS.find(([regex]) => regex.test(lower))?.[1] ?? UNKNOWN;
  const part = found === ORDINARY && isNewRepository(change, lower) ? MODULES : found;
  if (change.after?.kind === 'symlink') return [linkHit(change, part)];
  if (part === HOOK) return hookHits(change, inner);
  if (isWithoutEffect(scene, change, part.rule, lower)) return [];
  const { path } = change;
  if (change.after === undefined && DONE_WHEN_REMOVED.has(part.rule)) return [{ ...ORDINARY, path }];
  if (change.after === undefined && part.severity === 'blocked')
    return [{ ...part, path, severity: 'note', title: `${part.title} (removed)` }];
  if (change.after?.kind === 'dir') return [];
  // An unfinished rebase is one finding, not one for each of the fifteen files that git keeps of it.
  const operation = /^(rebase-merge|rebase-apply|sequencer)\//i.exec(inner)?.[0];
  if (operation === undefined) return [{ ...part, path }];
  return [{ ...part, path: path.slice(0, path.length - inner.length + operation.length - 1) }];
}

/** Comments alone, or the pointer that git itself writes for a worktree. */
function isWithoutEffect(scene: Scene, change: Change, rule: string, inner: string): boolean {
  if (rule === 'git-info-attributes' || rule === 'git-hides-files') {
    const isReadable = change.after?.kind !== 'file' || scene.text(change.after) !== undefined;
    return isReadable && scene.added(change).every((line) => line.text.startsWith('#'));
  }
  const isPointer = rule === 'git-redirect' && /^worktrees\/[^/]+\/commondir$/.test(inner);
  return isPointer && scene.text(change.after)?.trim() === '../..';
}

function linkHit({ path, after }: Change, part: RuleWords): Hit {
  const text = part === HOOK ? textOf('git-hook', 'linked') : textOf('git-link');
  return { ...text, rule: part === ORDINARY ? text.rule : part.rule, path, ...placeOf({ detail: after?.target }) };
}

/** Whether a submodule or worktree is new: its HEAD stands for it. */
function isNewRepository({ before }: Change, inner: string): boolean {
  return before === undefined && /^(modules|worktrees)\/.+\/head$/.test(inner) && !/\/(refs|logs)\//.test(inner);
}

function hookHits({ path, kind, before, after }: Change, inner: string): Hit[] {
  const name = nameOfPath(inner);
  if (after === undefined)
    return before?.kind === 'file' && !/\.sample$/.test(name) ? [hitOf('git-hook', path, { case: 'removed' })] : [];
  if (after.kind === 'dir' || /^readme/i.test(name)) return [];
  if (after.kind === 'file' && after.size === 0 && before !== undefined)
    return [hitOf('git-hook', path, { case: 'emptied' })];
  // Git runs only a file with the name of a hook, and on Unix only one that can be executed.
  if (kind === 'created' && !isHookName(name) && /\.(txt|md)$/i.test(name) && (after.mode & 0o111) === 0)
    return [{ ...ORDINARY, path }];
  const unknownName = isHookName(name) ? undefined : 'not a hook that git names, but in a hooks directory';
  const detail = kind === 'mode' ? 'now executable' : unknownName;
  return [hitOf('git-hook', path, { case: kind === 'created' ? 'created' : 'changed', detail })];
}

/** `.git` itself: a file or link redirects git. */
function judgeGitItself(scene: Scene, { path, before, after }: Change): Hit[] {
  if (after === undefined || (after.kind === 'dir' && before?.kind === 'dir')) return [];
  if (after.kind === 'dir') return path === '.git' && before === undefined ? [] : [hitOf('git-nested', path)];
  if (after.kind === 'symlink') return [hitOf('git-redirect', path, { case: 'link', detail: after.target })];
  return [hitOf('git-redirect', path, { case: 'file', detail: scene.text(after)?.slice(0, 200) })];
}

/** One finding for each key of a git configuration that counts. */
function configHits(scene: Scene, { path, before, after }: Change, isNewRepository: boolean): Hit[] {
  if (after?.kind === 'symlink') return [hitOf('git-config', path, { case: 'link', detail: after.target ?? '' })];
  const isUnreadable = (entry: Entry | undefined): boolean => entry?.kind === 'file' && scene.text(entry) === undefined;
  if (isUnreadable(after) || isUnreadable(before)) return [hitOf('git-config', path, { case: 'unreadable' })];
  const old = isNewRepository ? undefined : (scene.text(before) ?? '');
  return judgeGitConfig(old, scene.text(after)).map(({ text, severity, detail, line }) => ({
    ...text,
    severity,
    path,
    detail,
    line,
  }));
}
