import { isHookName } from '../../git/names.ts';
import type { Change, Entry } from '../../types/entry.ts';
import type { Severity } from '../../types/finding.ts';
import type { Hit, Scene } from '../input.ts';
import { judgeGitConfig } from './config.ts';

type Part = { readonly rule: string; readonly severity: Severity; readonly title: string; readonly why: string };

const ORDINARY: Part = {
  rule: 'git-data',
  severity: 'note',
  title: "Git's own data changed",
  why: 'Objects, refs, index and logs stay in the copy.',
};
const HOOK: Part = {
  rule: 'git-hook',
  severity: 'blocked',
  title: 'New git hook detected',
  why: 'Git runs it by itself at the next commit, checkout or push.',
};
const MODULES: Part = {
  rule: 'git-modules',
  severity: 'blocked',
  title: 'Git data of a submodule or worktree changed',
  why: 'Git enters it with the configuration and hooks that stand there.',
};
const CONFIG_TITLE = 'Git configuration key';

/** Files of a git directory by what they do, first match wins. The path is relative to that directory, lower case. */
const PARTS: readonly (readonly [RegExp, Part])[] = [
  [
    /^(modules|worktrees)\/.*\/(config|config\.worktree)$/,
    { rule: 'git-config', severity: 'blocked', title: CONFIG_TITLE, why: '' },
  ],
  [/^hooks\/[^/]*\.sample$/, ORDINARY],
  [/(^|\/)hooks(\/|$)/, HOOK],
  [
    /^info\/attributes$|\/info\/attributes$/,
    {
      rule: 'git-info-attributes',
      severity: 'blocked',
      title: 'Git attributes outside any diff',
      why: 'It binds paths to filters and drivers, wins over .gitattributes and is in no diff.',
    },
  ],
  [
    /(^|\/)objects\/info\/(http-)?alternates$/,
    {
      rule: 'git-alternates',
      severity: 'blocked',
      title: 'Git borrows objects from elsewhere',
      why: 'Objects are read from a folder outside this repository.',
    },
  ],
  [
    /(^|\/)(commondir|gitdir)$/,
    {
      rule: 'git-redirect',
      severity: 'blocked',
      title: 'Git is sent to another repository',
      why: 'Configuration, hooks and refs come from the folder named there.',
    },
  ],
  // What a commit in a submodule or linked work tree writes. What git runs from there stands above.
  [
    /^(modules|worktrees)\/.+\/((objects\/(?!info\/)|refs\/(?!replace\/)|logs\/).+|(head|index|orig_head|fetch_head|commit_editmsg))$/,
    ORDINARY,
  ],
  [/^(modules|worktrees)(\/|$)/, MODULES],
  [
    /^(info\/grafts|shallow|refs\/replace(\/|$))/,
    {
      rule: 'git-history-lies',
      severity: 'suspect',
      title: 'Git history is replaced or cut',
      why: 'Log and blame show other objects than those that were signed.',
    },
  ],
  [
    // git gc writes it too.
    /^objects\/info\/commit-graph/,
    {
      rule: 'git-history-lies',
      severity: 'note',
      title: "Git's table of commits was written anew",
      why: 'Log and blame believe it rather than the commits.',
    },
  ],
  [
    /^(rebase-merge|rebase-apply|sequencer)(\/|$)|^(bisect_(log|start|run|names)|bisect_.*)$/,
    {
      rule: 'git-half-done',
      severity: 'suspect',
      title: 'A half-done git operation was left',
      why: '--continue or --abort runs or restores what stands there.',
    },
  ],
  [
    /^(merge_head|cherry_pick_head|revert_head|rebase_head|auto_merge|squash_msg|merge_msg|merge_mode|merge_rr)$/,
    {
      rule: 'git-half-done',
      severity: 'note',
      title: 'A half-done git operation was left',
      why: 'The next commit takes its parents or message from there.',
    },
  ],
  [
    /^(refs\/stash|logs\/refs\/stash)$/,
    {
      rule: 'git-stash',
      severity: 'note',
      title: 'A git stash was left',
      why: 'git stash pop would put its files into the tree.',
    },
  ],
  [
    /^info\/(exclude|sparse-checkout)$/,
    {
      rule: 'git-hides-files',
      severity: 'suspect',
      title: 'Git is told to hide files',
      why: 'git status no longer shows what stands there.',
    },
  ],
  [
    /(^|\/)(lazygit\.yml|gitui|magithub|\.gitstatus|gk|gitbutler)(\/|$)/,
    {
      rule: 'git-tool-file',
      severity: 'blocked',
      title: 'A tool file inside a git directory',
      why: 'A git front end takes commands from it.',
    },
  ],
  [
    /\.lock$/,
    {
      rule: 'git-lock',
      severity: 'note',
      title: 'A git lock file was left',
      why: 'Git refuses to write while it stands.',
    },
  ],
  [
    /^(head|index|packed-refs|orig_head|fetch_head|commit_editmsg|description|gc\.log|gc\.pid|rr-cache.*|sharedindex\..*|branches|logs|refs|objects|info|lfs|hooks|svn|tag_editmsg|note_editmsg)($|\/)/,
    ORDINARY,
  ],
  [/^rr-cache(\/|$)/, ORDINARY],
];
/** What these say stands there: where a session took it away, it has finished what the person had begun. */
const GONE_IS_DONE = new Set(['git-half-done', 'git-stash', 'git-lock', 'git-unknown']);
const UNKNOWN: Part = {
  rule: 'git-unknown',
  severity: 'suspect',
  title: 'An unknown file inside a git directory',
  why: 'Git and its front ends read files by name from there.',
};

/**
 * Judges one change inside a git directory; `inner` is the path in it.
 * Ordinary data is counted by the caller: such hits have the rule git-data.
 */
export function judgeGitPath(scene: Scene, change: Change, inner: string): Hit[] {
  const at = (part: Part, detail?: string, line?: number): Hit => ({
    rule: part.rule,
    severity: part.severity,
    path: change.path,
    title: part.title,
    why: part.why,
    ...(detail === undefined ? {} : { detail }),
    ...(line === undefined ? {} : { line }),
  });
  if (inner === '') return judgeGitItself(scene, change);
  const lower = inner.toLowerCase();
  if (/(^|\/)(config|config\.worktree)$/.test(lower) && !/^(refs|logs|objects|lfs\/objects)\//.test(lower))
    return configHits(scene, change);
  const found = PARTS.find(([regex]) => regex.test(lower))?.[1] ?? UNKNOWN;
  const part = found === ORDINARY && isNewRepository(change, lower) ? MODULES : found;
  if (change.after?.kind === 'symlink')
    return [
      at(
        {
          ...part,
          severity: 'blocked',
          rule: part === ORDINARY ? 'git-link' : part.rule,
          title: part === HOOK ? HOOK.title : 'A link inside a git directory',
          why: 'What it points at can change later without an edit here.',
        },
        change.after.target,
      ),
    ];
  if (part === HOOK) return hookHits(change, inner, at);
  if (part.rule === 'git-info-attributes' || part.rule === 'git-hides-files') {
    const seen = change.after?.kind !== 'file' || scene.text(change.after) !== undefined;
    if (seen && scene.added(change).every((line) => /^#/.test(line.text))) return [];
  }
  if (
    part.rule === 'git-redirect' &&
    /^worktrees\/[^/]+\/commondir$/.test(lower) &&
    scene.text(change.after)?.trim() === '../..'
  )
    return [];
  if (change.after === undefined && GONE_IS_DONE.has(part.rule)) return [at(ORDINARY)];
  if (change.after === undefined && part.severity === 'blocked')
    return [at({ ...part, severity: 'note', title: `${part.title} (removed)` })];
  if (change.after?.kind === 'dir') return [];
  // A rebase that was left is one thing to know, not the fifteen files that git keeps of it.
  const operation = /^(rebase-merge|rebase-apply|sequencer)\//i.exec(inner)?.[0];
  if (operation === undefined) return [at(part)];
  return [{ ...at(part), path: change.path.slice(0, change.path.length - inner.length + operation.length - 1) }];
}

/** A submodule or work tree that was not there: its HEAD speaks for it. */
function isNewRepository({ before }: Change, inner: string): boolean {
  return before === undefined && /^(modules|worktrees)\/.+\/head$/.test(inner) && !/\/(refs|logs)\//.test(inner);
}

function hookHits(change: Change, inner: string, at: (part: Part, detail?: string) => Hit): Hit[] {
  const name = inner.slice(inner.lastIndexOf('/') + 1);
  if (change.after === undefined) {
    if (change.before?.kind !== 'file' || /\.sample$/.test(name)) return [];
    return [at({ ...HOOK, severity: 'suspect', title: 'Git hook removed', why: 'A hook that protected you is gone.' })];
  }
  if (change.after.kind === 'dir' || /^readme/i.test(name)) return [];
  if (change.after.kind === 'file' && change.after.size === 0 && change.before !== undefined)
    return [at({ ...HOOK, title: 'Git hook emptied' })];
  const title = change.kind === 'created' ? HOOK.title : 'Changed git hook detected';
  const what = isHookName(name) ? undefined : 'not a hook that git names, but in a hooks directory';
  return [at({ ...HOOK, title }, change.kind === 'mode' ? 'now executable' : what)];
}

/** `.git` itself: a file or link sends git elsewhere. */
function judgeGitItself(scene: Scene, change: Change): Hit[] {
  const { after, before } = change;
  if (after === undefined || (after.kind === 'dir' && before?.kind === 'dir')) return [];
  const hit = (rule: string, severity: Severity, title: string, why: string, detail?: string): Hit => ({
    rule,
    severity,
    path: change.path,
    title,
    why,
    ...(detail === undefined ? {} : { detail }),
  });
  if (after.kind === 'dir')
    return change.path === '.git' && before === undefined
      ? []
      : [
          hit(
            'git-nested',
            'blocked',
            'New nested repository',
            'Prompts and editors run git in it with its own configuration and hooks.',
          ),
        ];
  if (after.kind === 'symlink')
    return [hit('git-redirect', 'blocked', '.git is a link', 'Git follows it to another repository.', after.target)];
  return [
    hit(
      'git-redirect',
      'blocked',
      '.git is a file',
      'Git follows it to another repository.',
      scene.text(after)?.slice(0, 200),
    ),
  ];
}

/** Every key of a git configuration that counts, one finding each. */
export function configHits(scene: Scene, change: Change): Hit[] {
  const base = { path: change.path, title: CONFIG_TITLE };
  if (change.after?.kind === 'symlink')
    return [
      {
        ...base,
        rule: 'git-config',
        severity: 'blocked',
        why: 'The configuration is a link.',
        detail: change.after.target ?? '',
      },
    ];
  const unread = (entry: Entry | undefined): boolean => entry?.kind === 'file' && scene.text(entry) === undefined;
  if (unread(change.after) || unread(change.before))
    return [{ ...base, rule: 'git-config', severity: 'blocked', why: 'The configuration cannot be read.' }];
  const hits = judgeGitConfig(scene.text(change.before), scene.text(change.after));
  return hits.map((hit) => ({
    ...base,
    rule: hit.class === 'exec' ? 'git-config-exec' : `git-config-${hit.class}`,
    severity: hit.severity,
    why: hit.why,
    detail: hit.detail,
    line: hit.line,
  }));
}
