/** How git itself runs a command that a key names. */
export interface Proof {
  /** The patterns of the key table that this proves. */
  readonly shows: string;
  /** What is planted: `key = value`, several with ` && `. RUN is a shell command that leaves the mark, PROGRAM a file of it. */
  readonly planted: string;
  /** Run in the user's repository before anything is planted; `f` holds `a` in its one commit and `b` in the tree. */
  readonly before?: string;
  /** The user's command. */
  readonly then: string;
}

const proof = (shows: string, planted: string, then: string, before?: string): Proof => ({
  shows,
  planted,
  then,
  ...(before === undefined ? {} : { before }),
});
const ATTRIBUTE = (what: string): string => `echo "* ${what}=z" >.gitattributes`;
/** Two branches that change `f` in two ways, the work tree on the second. */
const CONFLICT = 'git commit -qam b; git checkout -qb x HEAD~1; echo c >f; git commit -qam c';
/** Two branches that merge without a conflict. */
const FORK = 'git commit -qam b; git checkout -qb x HEAD~1; echo c >g; git add g; git commit -qm c';
/** Puts a program under a name that git searches for into a folder of the user's PATH. */
const IN_PATH = (name: string): string => `cp PROGRAM ../bin/${name}`;

export const PROOFS: readonly Proof[] = [
  proof('alias.*', 'alias.st = !RUN', 'git st'),
  proof(
    'branch.<name>.mergeoptions',
    'branch.x.mergeOptions = -s zz',
    'git merge -q main',
    `${FORK}; ${IN_PATH('git-merge-zz')}`,
  ),
  proof('browser.<tool>.cmd', 'browser.z.cmd = RUN;:', 'git web--browse -b z http://h'),
  proof('browser.<tool>.path', 'browser.firefox.path = PROGRAM', 'git web--browse -b firefox http://h'),
  proof(
    'core.alternaterefscommand',
    'core.alternateRefsCommand = RUN;:',
    'git -C ../o push -q ../r main:z',
    'git init -q --bare ../o; git -C ../o fetch -q ../r main:main; echo "$PWD/../o/objects" >.git/objects/info/alternates; git config receive.denyCurrentBranch ignore; git -C ../o config core.bare true; git -C ../o update-ref refs/heads/q main',
  ),
  proof('core.askpass', 'core.askPass = PROGRAM', 'printf "protocol=https\\nhost=h\\n\\n" | git credential fill'),
  proof('core.editor', 'core.editor = RUN;:', 'git commit --amend'),
  proof('core.fsmonitor', 'core.fsmonitor = RUN;:', 'git status'),
  proof('core.gitproxy', 'core.gitProxy = PROGRAM', 'git ls-remote git://h/x'),
  proof('core.hookspath', 'core.hooksPath = k', 'git commit -qam b', 'mkdir k; cp PROGRAM k/pre-commit'),
  proof('core.pager', 'core.pager = RUN;cat', 'script -qec "git log" /dev/null'),
  proof('core.sshcommand', 'core.sshCommand = RUN;:', 'git ls-remote ssh://h/x'),
  proof(
    'credential.<url>.helper credential.<url>.*',
    'credential.https://h.helper = !RUN;:',
    'printf "protocol=https\\nhost=h\\n\\n" | git credential fill',
  ),
  proof(
    'credential.helper',
    'credential.helper = !RUN;:',
    'printf "protocol=https\\nhost=h\\n\\n" | git credential fill',
  ),
  proof('diff.<driver>.command', 'diff.z.command = RUN;:', 'git diff', ATTRIBUTE('diff')),
  proof('diff.<driver>.textconv', 'diff.z.textconv = RUN;cat', 'git blame f', ATTRIBUTE('diff')),
  proof('diff.external', 'diff.external = RUN;:', 'git diff'),
  proof('diff.guitool', 'diff.guitool = z && difftool.z.cmd = RUN', 'git difftool -g -y'),
  proof('diff.tool difftool.<tool>.cmd', 'diff.tool = z && difftool.z.cmd = RUN', 'git difftool -y'),
  proof('difftool.<tool>.path', 'difftool.vimdiff.path = PROGRAM', 'git difftool -y -t vimdiff'),
  proof(
    'filter.<driver>.clean',
    'filter.z.clean = RUN;cat',
    'git status',
    `${ATTRIBUTE('filter')}; sleep 0.01; echo z >f`,
  ),
  proof('filter.<driver>.process', 'filter.z.process = RUN;:', 'git add f', ATTRIBUTE('filter')),
  proof('filter.<driver>.smudge', 'filter.z.smudge = RUN;cat', 'git checkout -f .', ATTRIBUTE('filter')),
  proof('gpg.<format>.program', 'gpg.openpgp.program = PROGRAM', 'git commit -qam b -S'),
  proof('gpg.program', 'gpg.program = PROGRAM', 'git commit -qam b -S'),
  proof(
    'gpg.ssh.defaultkeycommand',
    'gpg.ssh.defaultKeyCommand = PROGRAM',
    'git commit -qam b -S',
    'git config gpg.format ssh',
  ),
  proof(
    'help.autocorrect',
    'help.autocorrect = immediate',
    'git update-reff refs/heads/zz HEAD; git rev-parse -q --verify refs/heads/zz && RUN',
  ),
  proof(
    'help.browser',
    'help.browser = z && browser.z.cmd = RUN;:',
    'git help -w status',
    'git config help.htmlPath http://h',
  ),
  proof(
    'imap.tunnel',
    'imap.tunnel = RUN;:',
    'printf "From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\\nFrom: a\\nDate: Mon, 1 Jan 2024 00:00:00 +0000\\nSubject: b\\n\\nc\\n" | git imap-send',
    'git config imap.folder x',
  ),
  proof('instaweb.httpd', 'instaweb.httpd = zzlighttpd -f', 'git instaweb --start', IN_PATH('zzlighttpd')),
  proof(
    'interactive.difffilter',
    'interactive.diffFilter = RUN;cat',
    'echo q | TERM=xterm script -qec "git add -p" /dev/null',
  ),
  proof('man.<tool>.cmd man.viewer', 'man.viewer = z && man.z.cmd = RUN;:', 'git help -m status'),
  proof('man.<tool>.path', 'man.man.path = PROGRAM', 'git help -m status'),
  proof(
    'merge.<driver>.driver',
    'merge.z.driver = RUN;true',
    'git merge -q main',
    `${CONFLICT}; echo "* merge=z" >.git/info/attributes`,
  ),
  proof('merge.default', 'merge.default = z && merge.z.driver = RUN;true', 'git merge -q main', CONFLICT),
  proof(
    'merge.guitool',
    'merge.guitool = z && mergetool.z.cmd = RUN',
    'git mergetool -g -y',
    `${CONFLICT}; git merge -q main`,
  ),
  proof(
    'merge.tool mergetool.<tool>.cmd',
    'merge.tool = z && mergetool.z.cmd = RUN',
    'git mergetool -y',
    `${CONFLICT}; git merge -q main`,
  ),
  proof(
    'mergetool.<tool>.path',
    'mergetool.vimdiff.path = PROGRAM',
    'git mergetool -y -t vimdiff',
    `${CONFLICT}; git merge -q main`,
  ),
  proof('pager.<cmd>', 'pager.status = RUN;cat', 'script -qec "git status" /dev/null'),
  proof(
    'pull.octopus',
    'pull.octopus = zz',
    'git merge main y',
    `${FORK}; git branch y main~1; git checkout -q y; echo d >h; git add h; git commit -qm d; git checkout -q x; ${IN_PATH('git-merge-zz')}`,
  ),
  proof('pull.twohead', 'pull.twohead = zz', 'git merge main', `${FORK}; ${IN_PATH('git-merge-zz')}`),
  proof(
    'remote.<name>.receivepack',
    'remote.o.receivepack = RUN;git-receive-pack',
    'git push -q o main',
    'git init -q --bare ../s; git config remote.o.url ../s',
  ),
  proof(
    'remote.<name>.uploadpack',
    'remote.o.uploadpack = RUN;git-upload-pack',
    'git fetch -q o',
    'git init -q --bare ../s; git config remote.o.url ../s',
  ),
  proof(
    'remote.<name>.vcs',
    'remote.o.vcs = zz',
    'git fetch o',
    `git config remote.o.url zz; ${IN_PATH('git-remote-zz')}`,
  ),
  proof('sequence.editor', 'sequence.editor = RUN;:', 'git rebase -i --root', 'git commit -qam b'),
  proof(
    'submodule.<name>.update',
    'submodule.s.update = !RUN;:',
    'git submodule update',
    'git init -q ../s; git -C ../s commit -q --allow-empty -m s; git -c protocol.file.allow=always submodule --quiet add "$PWD/../s" s; git -C s commit -q --allow-empty -m t',
  ),
  proof('tar.<format>.command', 'tar.tgz.command = RUN;cat', 'git archive --format=tgz HEAD'),
  proof('trailer.<key-alias>.cmd', 'trailer.z.cmd = RUN;:', 'echo a | git interpret-trailers --trailer z=1'),
  proof('trailer.<key-alias>.command', 'trailer.z.command = RUN;:', 'echo a | git interpret-trailers'),
  proof('web.browser', 'web.browser = z && browser.z.cmd = RUN;:', 'git web--browse http://h'),
];

const NEWER = 'a later git than the tests may meet';
const PACKAGE = 'read by a program that is no part of git alone';

/** Keys that no git can be asked about here, each with the reason that it is taken for one that runs something. */
export const NOT_PROVEN: Readonly<Record<string, string>> = {
  'alias.*.command': `${NEWER}: the form of alias.* since 2.54`,
  'gc.recentobjectshook': `${NEWER}: 2.42`,
  'hook.<friendly-name>.command': `${NEWER}: 2.54`,
  'hook.<friendly-name>.event': `${NEWER}: 2.54, says when hook.<name>.command runs`,
  'core.gvfs': `${PACKAGE}: Microsoft's git`,
  'core.virtualfilesystem': `${PACKAGE}: Microsoft's git`,
  'gvfs.*': `${PACKAGE}: Microsoft's git`,
  'git-p4.*': `${PACKAGE}: git-p4`,
  'gitcvs.<method>.*': `${PACKAGE}: git-cvsserver`,
  'gitcvs.dbdriver': `${PACKAGE}: git-cvsserver`,
  'guitool.<name>.cmd': `${PACKAGE}: git-gui`,
  'instaweb.browser': 'git instaweb gives it to git web--browse once its server answers, as web.browser',
  'instaweb.modulepath': `${PACKAGE}: the folder of Apache's modules`,
  'lfs.<url>.standalonetransferagent': `${PACKAGE}: git-lfs`,
  'lfs.customtransfer.<n>.args': `${PACKAGE}: git-lfs`,
  'lfs.customtransfer.<n>.path': `${PACKAGE}: git-lfs`,
  'lfs.extension.<n>.clean': `${PACKAGE}: git-lfs`,
  'lfs.extension.<n>.smudge': `${PACKAGE}: git-lfs`,
  'lfs.standalonetransferagent': `${PACKAGE}: git-lfs`,
  'merge.<driver>.recursive': 'names the driver of a merge of merges; that driver is merge.<driver>.driver',
  'mergetool.<variant>.layout': 'becomes a part of the command line of vim',
  'mergetool.vimdiff.layout': 'becomes a part of the command line of vim',
  'sendemail.<identity>.*': `${PACKAGE}: git send-email`,
  'sendemail.<identity>.<config>': `${PACKAGE}: git send-email`,
  'sendemail.cccmd': `${PACKAGE}: git send-email`,
  'sendemail.headercmd': `${PACKAGE}: git send-email`,
  'sendemail.sendmailcmd': `${PACKAGE}: git send-email`,
  'sendemail.smtpserver': `${PACKAGE}: git send-email`,
  'sendemail.tocmd': `${PACKAGE}: git send-email`,
  'svn-remote.<n>.*': `${PACKAGE}: git svn`,
  'svn.*': `${PACKAGE}: git svn`,
};
