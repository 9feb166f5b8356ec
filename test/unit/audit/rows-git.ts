import { edit, type Row, row } from './rows.ts';

/** `section.sub.key = value`, several with ` && `, as git would write them. */
export function config(lines: string): string {
  return lines
    .split(' && ')
    .map((line) => {
      const at = line.indexOf(' = ');
      const key = line.slice(0, at);
      const first = key.indexOf('.');
      const last = key.lastIndexOf('.');
      const section = key.slice(0, first);
      const sub = first === last ? '' : ` "${key.slice(first + 1, last)}"`;
      return `[${section}${sub}]\n\t${key.slice(last + 1)} = "${line.slice(at + 3).replace(/["\\]/g, '\\$&')}"\n`;
    })
    .join('');
}

// id; class of the key; what is planted; what is not worth a word.
const KEYS = `
A-001; exec; core.fsmonitor = touch m; core.fsmonitor = true
A-002; exec; core.hooksPath = k; core.abbrev = 12
A-003; exec; core.sshCommand = x; ssh.variant = ssh
A-004; exec; core.pager = touch m; core.pager = less -FRX
A-005; exec; pager.status = touch m; pager.branch = false
A-006; exec; core.editor = x; core.commentChar = %
A-008; exec; diff.external = x; diff.algorithm = histogram
A-009; exec; diff.z.command = x; diff.z.xfuncname = x
A-010; exec; diff.z.textconv = x; diff.json.xfuncname = y
A-011; load-file; diff.z.cachetextconv = true; diff.z.wordRegex = x
A-012; exec; filter.z.clean = x; filter.z.required = true
A-013; exec; filter.z.smudge = x; filter.z.required = true
A-014; exec; filter.z.process = x; filter.z.required = true
A-015; exec; merge.z.driver = x; merge.z.name = x
A-016; exec; merge.default = z; merge.ff = only
A-017; exec; mergetool.z.cmd = x; mergetool.keepBackup = true
A-018; exec; difftool.vimdiff.path = ../v; diff.tool = vimdiff
A-019; exec; difftool.z.cmd = x; difftool.prompt = true
A-020; exec; credential.helper = !x; credential.useHttpPath = true
A-022; exec; credential.helper = store --file leak; credentialCache.ignoreSIGHUP = true
A-023; exec; gpg.program = x; gpg.minTrustLevel = fully
A-025; exec; log.showSignature = true && gpg.program = x; log.follow = true
A-026; exec; core.askPass = x; core.abbrev = 12
A-027; exec; core.gitProxy = x; http.postBuffer = 1
A-028; exec; core.alternateRefsCommand = x; core.alternateRefsPrefixes = refs/heads
A-029; exec; alias.st = !x; alias.co = checkout
A-031; exec; alias.st.command = !x; alias.lg.command = log --oneline
A-033; redirect; remote.o.url = ext::sh -c x && protocol.ext.allow = always; branch.x.remote = origin
A-034; exec; remote.o.vcs = zz; remote.o.prune = true
A-035; exec; remote.o.uploadpack = x; remote.origin.fetch = +refs/heads/*:refs/remotes/origin/*
A-036; redirect; remote.o.promisor = true && extensions.partialClone = o; remote.o.skipFetchAll = true
A-037; exec; submodule.s.update = !x; submodule.s.update = rebase
A-038; exec; interactive.diffFilter = x; interactive.singleKey = true
A-040; exec; sendemail.sendmailCmd = x; sendemail.confirm = auto
A-041; exec; sendemail.work.toCmd = x; sendemail.work.chainReplyTo = true
A-042; exec; browser.z.cmd = x; help.format = man
A-044; exec; instaweb.httpd = x; instaweb.port = 1
A-045; exec; tar.tgz.command = x; tar.umask = 2
A-046; exec; trailer.z.command = x; trailer.separators = :
A-047; exec; guitool.z.cmd = x; gui.encoding = utf-8
A-048; exec; gc.recentObjectsHook = x; gc.packRefs = true
A-050; exec; hook.z.command = x && hook.z.event = pre-commit; hook.jobs = 1
A-052; exec; lfs.extension.z.clean = x; lfs.concurrenttransfers = 3
A-054; exec; svn.authorsProg = x; color.ui = auto
A-055; redirect; tig.bind.x = !y; branch.x.gh-merge-base = main
A-058; inert; safe.directory = *; uploadpack.keepAlive = 5
A-059; redirect; core.worktree = /home/x; core.worktree = ../../../sub
A-061; redirect; include.path = ../x; log.follow = true
A-062; redirect; includeIf.gitdir:x.path = ../x; log.follow = true
A-063; redirect; url.https://evil/.insteadOf = https://h/; log.follow = true
A-064; redirect; url.https://evil/.pushInsteadOf = https://h/; log.follow = true
A-065; redirect; remote.origin.url = https://evil/x; remote.origin.prune = true
A-067; redirect; remote.pushDefault = evil; branch.new.remote = origin
A-069; redirect; remote.origin.fetch = +refs/heads/*:refs/heads/*; remote.origin.fetch = +refs/heads/main:refs/remotes/origin/main
A-070; redirect; http.proxy = http://evil; http.postBuffer = 1
A-071; weaken; http.sslVerify = false; http.sslVerify = true
A-072; load-file; http.sslCAInfo = ca.pem; http.sslVerify = true
A-074; redirect; http.extraHeader = x; http.postBuffer = 1
A-076; weaken; credential.protectProtocol = false; credential.useHttpPath = true
A-077; weaken; protocol.allow = always; protocol.version = 2
A-078; weaken; transfer.fsckObjects = false; transfer.fsckObjects = true
A-079; weaken; core.protectHFS = false; core.protectNTFS = true
A-080; load-file; core.attributesFile = x; core.whitespace = x
A-081; load-file; core.excludesFile = x; core.whitespace = x
A-082; weaken; status.showUntrackedFiles = no; status.short = true
A-083; weaken; core.sparseCheckout = true; core.preloadIndex = true
A-085; escape; format.pretty = %x1b]0;x; format.signOff = true
A-087; weaken; core.quotePath = false; core.quotePath = true
A-088; load-file; commit.template = /etc/passwd; commit.verbose = true
A-089; load-file; format.outputDirectory = /tmp; format.numbered = true
A-091; weaken; commit.gpgSign = false; commit.gpgSign = true
A-094; redirect; lfs.url = https://evil; lfs.concurrenttransfers = 3
A-095; weaken; core.symlinks = false; core.compression = 1
A-097; load-file; rerere.autoUpdate = true; rerere.enabled = true
A-099; redirect; submodule.s.url = https://evil; submodule.fetchJobs = 2
A-100; weaken; receive.denyCurrentBranch = updateInstead; receive.autogc = true
`;

const fromKeys: readonly Row[] = KEYS.trim()
  .split('\n')
  .map((line) => {
    const [id = '', keyClass, danger = '', near = ''] = line.split('; ');
    const old = config('remote.origin.url = https://h/x');
    return row(
      id,
      `git-config-${keyClass}`,
      { '.git/config': edit(old, old + config(danger)) },
      { '.git/config': edit(old, old + config(near)) },
    );
  });

const HOOK = '#!/bin/sh\ntouch m\n';
const CLEAN = '.git/config';
const at = (name: string) => ({ [name]: HOOK });

/** Section A: git. */
export const GIT_ROWS: readonly Row[] = [
  ...fromKeys,
  row(
    'A-049',
    'git-config-weaken',
    { [CLEAN]: config('maintenance.auto = false') },
    { [CLEAN]: config('gc.packRefs = true') },
  ),
  row(
    'A-056',
    'git-host-target',
    { 'tools/conf': edit('a', 'b') },
    { 'tools/other': edit('a', 'b') },
    {
      '.git/config': config('include.path = ../tools/conf'),
    },
  ),
  row(
    'A-092',
    'git-signers',
    { allowed_signers: edit('a\n', 'a\nb ssh-ed25519 AAAA\n') },
    { allowed_signers: edit('# a\nx\n', '# b\nx\n') },
  ),
  row(
    'A-101',
    'git-config-exec',
    { [CLEAN]: '[core] fsmonitor=x' },
    { [CLEAN]: edit('[core]\n\tpager = x\n', '[CORE]\npager=x # y\n') },
  ),
  row('A-101b', 'git-config-exec', { [CLEAN]: '[CORE ""]\n[core]\n\tHooksPath = "a\\\nb"\n' }),
  row('A-101c', 'git-config-unreadable', { [CLEAN]: '[core\nx' }),
  row('A-103', 'shell-direnv', { '.envrc': edit('export A=1\n', 'export A=1\nexport GIT_SSH_COMMAND=x\n') }),
  row('A-104', 'git-hook', at('.git/hooks/pre-commit'), at('.git/hooks/pre-commit.sample')),
  row('A-105', 'git-hook', at('.git/hooks/post-checkout'), at('.git/hooks/post-checkout.sample')),
  row('A-107', 'git-hook', at('.git/hooks/reference-transaction'), at('.git/hooks/README')),
  row('A-109', 'git-hook', at('srv/.git/hooks/post-receive'), { 'src/hooks/update.ts': 'export const a = 1;\n' }),
  row(
    'A-110',
    'git-hook',
    { '.git/hooks/pre-push': { bytes: HOOK, was: 0o644, mode: 0o755 } },
    { 'scripts/x.sh': { bytes: HOOK, was: 0o644, mode: 0o755 } },
  ),
  row(
    'A-111',
    'git-hook',
    { '.git/hooks': { link: '../tools' } },
    { 'docs/hooks': { link: 'guides' }, 'docs/guides/a': 'x' },
  ),
  row('A-113', 'git-hook', { '.git/hooks/pre-commit': [HOOK, null] }, { '.git/hooks/pre-commit.sample': [HOOK, null] }),
  row('A-113b', 'git-config-weaken', { [CLEAN]: edit(config('commit.gpgSign = true'), '') }),
  row('A-114', 'git-hook-managers', at('.husky/pre-commit')),
  row('A-116', 'git-config-exec', { 'vendor/x/.git/config': config('core.fsmonitor = x') }),
  row('A-116b', 'git-nested', { 'vendor/x/.git': { more: { kind: 'dir' } } }),
  row(
    'A-117',
    'git-bare',
    { 'd/HEAD': 'ref: x\n', 'd/objects/a': '', 'd/refs/a': '', 'd/config': config('core.pager = x') },
    { 'd/HEAD': 'x\n' },
  ),
  row(
    'A-118',
    'git-bare',
    { HEAD: 'ref: x\n', 'objects/x': '', 'refs/x': '' },
    { 'HEAD.md': 'x', 'objects/cube': 'x' },
  ),
  row(
    'A-119',
    'git-bare',
    { 'd/HEAD': { link: 'x' }, 'd/objects': { link: 'o' }, 'd/refs/a': '' },
    { 'd/refs/a': '', 'd/objects/b': '' },
  ),
  row('A-120', 'git-redirect', { 'sub/.git': 'gitdir: /tmp/x\n' }),
  row('A-122', 'git-redirect', { 'sub/.git': { link: '../x' } }, { docs: { link: 'guides' }, 'guides/a': 'x' }),
  row('A-123', 'git-redirect', {
    '.git': { more: { before: { kind: 'dir', mode: 0o755, size: 0, mtimeNs: '1' } }, text: 'gitdir: x' },
  }),
  row('A-124', 'git-redirect', { '.git/commondir': '../x\n' }, { '.git/worktrees/a/commondir': '../..\n' }),
  row('A-125', 'git-config-exec', { '.git/config.worktree': config('core.pager = x') }),
  row('A-127', 'git-redirect', { '.git/worktrees/a/gitdir': '/home/x\n' }),
  row(
    'A-128',
    'git-config-exec',
    { '.git/modules/a/modules/b/config': config('core.editor = x') },
    { '.git/modules/a/config': config('core.worktree = ../../../a') },
  ),
  row('A-128b', 'git-hook', at('.git/modules/a/hooks/pre-commit')),
  row('A-128c', 'git-modules', { '.git/modules/a/packed-refs': 'x' }),
  row('A-130', 'git-alternates', { '.git/objects/info/alternates': '/x\n' }),
  row('A-131', 'git-info-attributes', { '.git/info/attributes': '* filter=z\n' }, { '.git/info/attributes': '# x\n' }),
  row('A-133', 'git-tool-file', { '.git/lazygit.yml': 'customCommands: []\n' }),
  row('A-135', 'git-lock', { '.git/index.lock': '' }, { 'flake.txt.lock': 'x' }),
  row(
    'A-136',
    'git-modules-file',
    { '.gitmodules': '[submodule "../../x"]\n\tpath = a\n\turl = https://h/a\n' },
    {
      '.gitmodules': edit(
        '[submodule "a"]\n\tpath = a\n\turl = https://h/a\n',
        '[submodule "a"]\n\tpath = a\n\turl = https://h/a\n\tbranch = main\n',
      ),
    },
  ),
  row('A-137', 'git-modules-file', { '.gitmodules': '[submodule "a"]\n\tpath = -x\n\turl = -u\n' }),
  row('A-138', 'git-modules-file', { '.gitmodules': '[submodule "a"]\n\tpath = "a\\t"\n\turl = https://h/a\n' }),
  row('A-140', 'git-modules-file', {
    '.gitmodules': '[submodule "a"]\n\tpath = a\n\turl = https://h/a\n\tupdate = !x\n',
  }),
  row('A-141', 'git-modules-file', { '.gitmodules': '[submodule "a"]\n\tpath = a\n\turl = ext::sh -c x\n' }),
  row('A-143', 'name-dotgit', { 'a/.Git/hooks/x': HOOK }, { '.gitkeep': '', 'git/x': 'x' }),
  row('A-144', 'name-dotgit', { 'GIT~1/config': 'x' }, { 'a~1.txt': 'x' }),
  row('A-145', 'name-dotgit', { '.g\u200cit/config': 'x' }, { '.gitkeep': '' }),
  row('A-147', 'name-backslash', { 'a\\..\\.git\\config': 'x' }),
  row('A-149', 'git-half-done', { '.git/rebase-merge/git-rebase-todo': 'exec x\n' }, { '.git/logs/HEAD': 'x' }),
  row('A-150', 'git-half-done', { '.git/sequencer/todo': 'pick x\n' }),
  row('A-151', 'git-half-done', { '.git/MERGE_HEAD': 'x' }, { '.git/COMMIT_EDITMSG': 'x' }),
  row('A-157', 'git-stash', { '.git/refs/stash': 'x' }),
  row('A-160', 'git-history-lies', { '.git/refs/replace/abc': 'x' }, { '.git/refs/notes/commits': 'x' }),
  row('A-161', 'git-history-lies', { '.git/info/grafts': 'x' }),
  row(
    'A-171',
    'git-attributes',
    { '.gitattributes': '* filter=z\n' },
    { '.gitattributes': '* text eol=lf\n*.png binary\n' },
  ),
  row('A-172', 'git-attributes', { 'd/.gitattributes': '*.ipynb diff=jupyter\n' }),
  row(
    'A-174',
    'git-attributes',
    { '.gitattributes': 'src/** -diff\n' },
    { '.gitattributes': 'package-lock.json -diff\n' },
  ),
  row('A-175', 'git-attributes', { '.gitattributes': 'tests export-ignore\n' }),
  row(
    'A-176',
    'git-attributes',
    { '.gitattributes': '*.sh working-tree-encoding=UTF-16\n' },
    { '.gitattributes': '* text=auto\n' },
  ),
  row(
    'tried',
    'ignore-hides',
    { '.gitignore': `**/${'a/**/'.repeat(12)}b\n`, [`${'a/'.repeat(60)}d`]: 'x' },
    { '.gitignore': '**/a/**/b\n', 'a/a/a/d': 'x' },
  ),
  row(
    'A-178',
    'ignore-hides',
    { '.gitignore': edit('x\n', 'x\n*.dat\n'), 'a.dat': 'y' },
    { '.gitignore': edit('x\n', 'x\n.venv/\n') },
  ),
  row('A-179', 'ignore-uncovers', { '.gitignore': edit('.env\n', '') }, { '.gitignore': edit('*.log\n', '') }),
  row('A-181', 'git-mailmap', { '.mailmap': edit('', 'A <a@b> <victim@c>\n') }),
  row(
    'A-182',
    'git-mailmap',
    { '.git-blame-ignore-revs': edit('', 'HEAD~3\n') },
    { '.git-blame-ignore-revs': edit('', '0123456789012345678901234567890123456789\n') },
  ),
  row(
    'A-183',
    'git-lfsconfig',
    { '.lfsconfig': config('lfs.url = https://evil') },
    { '.lfsconfig': config('lfs.fetchrecentrefsdays = 3') },
  ),
  row('A-185', 'git-commit-tools', { '.gitchangelog.rc': 'import os\n' }),
  row('A-185b', 'commit-words', { '.gitmessage': '[skip ci]\n' }),
  row('A-187', 'git-other-vcs', { '.arcconfig': '{"load":["./x"]}' }),
  row(
    'A-187b',
    'git-review',
    { '.gitreview': edit('[gerrit]\nhost=a\n', '[gerrit]\nhost=evil\n') },
    { '.gitreview': edit('[gerrit]\nhost=a\ndefaultbranch=a\n', '[gerrit]\nhost=a\ndefaultbranch=b\n') },
  ),
  row('git', 'git-config', { [CLEAN]: { link: 'x' } }),
  row('git', 'git-link', { '.git/refs/x': { link: 'y' } }),
  row('git', 'git-data', { '.git/index': 'x' }),
  row('git', 'git-hides-files', { '.git/info/exclude': 'x\n' }, { '.git/info/exclude': '# x\n' }),
  row('git', 'git-unknown', { '.git/surprise': 'x' }),
];

const STAYS = 'objects, refs and the index of the copy never come back; what is written there is counted (git-data)';

/** Rows that no rule of the audit is for. */
export const GIT_NOT_HERE: Readonly<Record<string, string>> = {
  'A-129': STAYS,
  'A-153': STAYS,
  'A-154': STAYS,
  'A-156': STAYS,
  'A-158': STAYS,
  'A-162': `${STAYS}; commits are imported only as a bundle that was checked`,
  'A-164': `${STAYS}; commits are imported only as a bundle that was checked`,
  'A-165': 'refs come back under names of ours only',
  'A-167': 'commits are imported by the apply room, which cleans what it shows',
  'A-168': 'commits are imported by the apply room; a template in the tree is commit-words',
  'A-169': 'commits are imported by the apply room',
};
