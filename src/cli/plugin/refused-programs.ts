import { ownValue } from '../../core/text/own-value.ts';

/** Why no entry of the passthrough list may start these programs, not even one that names every word. */
const REFUSED_PROGRAMS: Readonly<Record<string, string>> = {
  ...namesOf(
    'starts containers on your machine',
    'docker podman nerdctl docker-compose podman-compose buildah ctr lxc',
  ),
  ...namesOf('runs commands as another user', 'sudo doas su runuser pkexec run0 setpriv gosu please'),
  ...namesOf(
    'runs any other command',
    'sh bash dash ash zsh fish ksh mksh csh tcsh busybox toybox env xargs parallel eval exec command builtin source time ' +
      'timeout nohup nice ionice setsid stdbuf unbuffer script expect watch flock chroot unshare nsenter systemd-run at ' +
      'batch crontab ssh tmux screen find awk gawk mawk sed ed vi vim ex nano emacs less more man gdb strace ltrace ' +
      'osascript launchctl open xdg-open pwsh',
  ),
  ...namesOf(
    'runs code that a word of the command holds',
    'python python2 python3 pypy pypy3 node nodejs deno bun perl ruby php lua tclsh',
  ),
  ...namesOf('is itself a way out of the copy', 'run-claude claude'),
};

/** Why a program is refused by its name, with or without its version; undefined where the name alone does not refuse it. */
export function refusedProgram(program: string): string | undefined {
  const name = baseName(program);
  return ownValue(REFUSED_PROGRAMS, name);
}

/** `python3.12` is python. */
function baseName(program: string): string {
  return program
    .toLowerCase()
    .replace(/\.exe$/, '')
    .replace(/[\d.]+$/, '');
}

function namesOf(why: string, names: string): Record<string, string> {
  return Object.fromEntries(names.split(' ').map((name) => [baseName(name), why]));
}
