/**
 * Ways to make git run a program, each as a shell line in the repository /tmp/r. It ran when $M exists afterwards. $S is
 * a program that leaves $M and otherwise does nothing; $F a configuration file that names it; $H a directory of hooks.
 */
export const VECTORS: readonly (readonly [string, string])[] = [
  ['-c core.fsmonitor', 'git -c core.fsmonitor="$S" status'],
  ['-c core.editor', 'git -c core.editor="$S" commit --allow-empty'],
  ['-c core.hooksPath', 'git -c core.hooksPath=$H commit --allow-empty -m x'],
  ['-c core.sshCommand', 'git -c core.sshCommand="$S" ls-remote ssh://h/x'],
  ['-c core.gitProxy', 'git -c core.gitProxy=$S ls-remote git://h/x'],
  ['-c sequence.editor', 'git -c sequence.editor=$S rebase -i HEAD~1'],
  ['-c diff.external', 'git -c diff.external=$S diff first'],
  ['-c diff.*.textconv', 'git -c diff.d.textconv=$S diff first'],
  ['-c diff.*.command', 'git -c diff.d.command=$S diff first'],
  ['-c filter.*.clean', 'echo more >>f.txt; git -c filter.f.clean="$S" add f.txt'],
  ['-c filter.*.smudge', 'rm f.txt; git -c filter.f.smudge="$S" checkout f.txt'],
  ['-c filter.*.process', 'rm f.txt; git -c filter.f.process="$S" checkout f.txt'],
  ['-c merge.*.driver', 'git -c merge.m.driver="$S" merge other; git merge --abort'],
  ['-c alias.*', 'git -c alias.z="!$S" z'],
  ['-c gpg.program', 'git -c gpg.program=$S commit -S --allow-empty -m x'],
  [
    '-c gpg.ssh.defaultKeyCommand',
    'git -c gpg.format=ssh -c gpg.ssh.defaultKeyCommand=$S commit -S --allow-empty -m x',
  ],
  ['-c difftool.*.cmd', 'git -c difftool.t.cmd=$S difftool -y -t t first'],
  ['-c tar.*.command', 'git -c tar.foo.command=$S archive --format=foo HEAD'],
  ['-c trailer.*.command', 'git -c trailer.t.command=$S interpret-trailers --trailer t=x f.txt'],
  ['-c remote.*.uploadpack', 'git -c remote.o.uploadpack=$S -c remote.o.url=/tmp/bare fetch o'],
  ['-c include.path', 'git -c include.path=$F status'],
  ['-c man.*.cmd', 'git -c man.viewer=t -c man.t.cmd=$S help -m log'],
  ['-c browser.*.cmd', 'git -c web.browser=b -c browser.b.cmd=$S web--browse http://x/'],
  ['-c core.pager, on a terminal', 'script -qec "git -c core.pager=$S log" /dev/null'],
  ['-c pager.log, on a terminal', 'script -qec "git -c pager.log=$S log" /dev/null'],
  ['-c credential.helper', 'printf "protocol=https\\nhost=h\\n\\n" | git -c credential.helper=$S credential fill'],
  ['-c protocol.ext.allow', 'git -c protocol.ext.allow=always ls-remote ext::$S'],
  ['clone -c', 'git clone -c core.fsmonitor=$S /tmp/bare /tmp/clone; git -C /tmp/clone status; rm -rf /tmp/clone'],
  ['--config-env', 'V=$S git --config-env=core.fsmonitor=V status'],
  ['--exec-path', 'git --exec-path=$D planted'],
  ['GIT_CONFIG_COUNT', 'GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.fsmonitor GIT_CONFIG_VALUE_0=$S git status'],
  ['GIT_CONFIG_PARAMETERS', `GIT_CONFIG_PARAMETERS="'core.fsmonitor'='$S'" git status`],
  ['GIT_CONFIG_GLOBAL', 'GIT_CONFIG_GLOBAL=$F git status'],
  ['GIT_CONFIG_SYSTEM', 'GIT_CONFIG_SYSTEM=$F git status'],
  ['~/.gitconfig', 'cp $F $HOME/.gitconfig; git status; rm $HOME/.gitconfig'],
  [
    '~/.gitconfig with hooks',
    'git config -f $HOME/.gitconfig user.name a; printf "[core]\\nhooksPath=$H\\n" >$HOME/.gitconfig; git commit --allow-empty -m x; rm $HOME/.gitconfig',
  ],
  ['XDG_CONFIG_HOME', 'mkdir -p /tmp/x/git; cp $F /tmp/x/git/config; XDG_CONFIG_HOME=/tmp/x git status'],
  ['.git/config', 'cp .git/config /tmp/kept; cat $F >>.git/config; git status; cp /tmp/kept .git/config'],
  [
    'config.worktree',
    'cp .git/config /tmp/kept; printf "[extensions]\\nworktreeConfig=true\\n" >>.git/config; cp $F .git/config.worktree; git status; rm .git/config.worktree; cp /tmp/kept .git/config',
  ],
  [
    'GIT_DIR',
    'cp -r .git /tmp/other.git; cat $F >>/tmp/other.git/config; GIT_DIR=/tmp/other.git GIT_WORK_TREE=. git status',
  ],
  ['--git-dir', 'git --git-dir=/tmp/other.git --work-tree=. status'],
  ['GIT_SSH_COMMAND', 'GIT_SSH_COMMAND=$S git ls-remote ssh://h/x'],
  ['GIT_PROXY_COMMAND', 'GIT_PROXY_COMMAND=$S git ls-remote git://h/x'],
  ['GIT_EXTERNAL_DIFF', 'GIT_EXTERNAL_DIFF=$S git diff first'],
  ['GIT_EDITOR', 'GIT_EDITOR=$S git commit --allow-empty'],
  ['VISUAL', 'TERM=xterm VISUAL=$S git commit --allow-empty'],
  ['EDITOR', 'EDITOR=$S git commit --allow-empty'],
  ['GIT_SEQUENCE_EDITOR', 'GIT_SEQUENCE_EDITOR=$S git rebase -i HEAD~1'],
  ['GIT_PAGER, on a terminal', 'GIT_PAGER=$S script -qec "git log" /dev/null'],
  ['PAGER, on a terminal', 'PAGER=$S script -qec "git log" /dev/null'],
  ['GIT_EXEC_PATH', 'GIT_EXEC_PATH=$D git planted'],
];

/** What the guard refuses by name, whatever it would have led to. */
export const REFUSED: readonly string[] = [
  'git push /tmp/bare main',
  'git send-pack /tmp/bare main',
  'git remote add x https://h/x',
  'git remote -v add x https://h/x',
  'git submodule --quiet add /tmp/bare sub',
  'git --shallow-file /tmp/none push -q /tmp/bare HEAD:refs/heads/new',
  'git --super-prefix x/ push -q /tmp/bare HEAD:refs/heads/new',
  'git remote set-url o https://h/x',
  'git remote rename o p',
  'git submodule add /tmp/bare sub',
  'printf "host=h\\n\\n" | git credential fill',
  'git config core.fsmonitor /tmp/x',
  'git config --global alias.x "!true"',
  'git config --add core.sshCommand x',
  'git config -e',
];

/** What people do all day; must work with the guards. */
export const ALLOWED: readonly string[] = [
  'git status',
  'echo a >>f.txt && git add -A && git commit -qm change',
  'git log --oneline -3',
  'git diff HEAD~1 --stat',
  'git branch side && git checkout -q side && git checkout -q main && git merge -q side',
  'git stash list && git tag t1 && git rebase -q HEAD~1',
  'git config user.name someone && test "$(git config user.name)" = someone && git config --get core.hooksPath',
  'git -c color.ui=always -c core.pager=cat log -1',
  'GIT_PAGER=cat GIT_EDITOR=true git commit --amend --allow-empty',
  'git fetch -q o && git remote -v',
  'git clone -q /tmp/bare /tmp/clone2 && git worktree add -q /tmp/tree && git -C /tmp/tree status',
  'git grep -n one && git blame f.txt && git bisect start && git bisect reset',
  'git lfs version',
];

const PREPARE = `
set -u
exec 3>&1 >/dev/null 2>&1 </dev/null
export HOME=/tmp/home M=/tmp/marker S=/tmp/run-me F=/tmp/fsmonitor.config H=/tmp/hooks D=/tmp/programs
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
mkdir -p $HOME $H $D
printf '#!/bin/sh\\ntouch /tmp/marker\\n' >$S
chmod +x $S; cp $S $H/pre-commit; cp $S $D/git-planted
printf '[core]\\nfsmonitor=%s\\n' $S >$F
git init -q -b main /tmp/r; cd /tmp/r
printf '*.txt diff=d filter=f merge=m\\n' >.gitattributes
for n in one two; do echo $n >>f.txt; git add -A; git commit -qm $n; done
git checkout -qb other HEAD~1; echo other >>f.txt; git commit -qam other; git checkout -q main; git tag first HEAD~1
git clone -q --bare . /tmp/bare
git config -f .git/config remote.o.url /tmp/bare
git config -f .git/config remote.o.fetch '+refs/heads/*:refs/remotes/o/*'
say() { echo "$@" >&3; }
`;

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** A bash script that tries every vector, a line "ran NAME" or "quiet NAME" each. */
export function vectorScript(): string {
  const tries = VECTORS.map(
    ([name, line]) =>
      `git reset -q --hard; rm -f $M; timeout 20 bash -c ${quote(line)}; if [ -e $M ]; then say ran ${quote(name)}; else say quiet ${quote(name)}; fi`,
  );
  return [PREPARE, ...tries].join('\n');
}

/** A bash script that runs each line: "refused LINE" when the guard spoke up, else "ok" or "failed". */
export function commandScript(lines: readonly string[]): string {
  const tries = lines.map(
    (line) =>
      `said=$(timeout 20 bash -c ${quote(line)} 2>&1) && r=ok || r=failed; case $said in *'git-guard refuses'*) r=refused;; esac; say $r ${quote(line)}`,
  );
  return [PREPARE, ...tries].join('\n');
}
