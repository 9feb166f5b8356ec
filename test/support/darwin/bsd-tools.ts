import { chmodSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Tools of macOS whose options are the same in GNU and BSD, so far as POSIX goes. */
const AS_THEY_ARE =
  'sh basename cat chmod cmp cut dirname echo env false git head id ln ls mkdir mv printf rmdir sleep sort tail tee test touch tr true uniq wc';

/** For each tool, patterns of `case` that only GNU's version accepts. */
const GNU_ONLY: Readonly<Record<string, string>> = {
  // BSD's -i needs a suffix, as its own word or joined.
  sed: '-i|-s|-z|--*',
  date: '-d|-d?*|-I?*|--*|*%N*',
  stat: '-c|-c?*|--*',
  readlink: '-e|-m|-z|--*',
  mktemp: '--?*|--|-p|-p?*',
  grep: '-P|-[a-zA-Z]*P*|--perl-regexp',
  xargs: '-d|-d?*|-a|--*',
  tar: '--owner*|--group*|--transform*|--sort*|--mtime*|--warning*|--wildcards',
  cp: '-u|-t|--?*',
  rm: '--?*',
  find: '-printf|-regextype|-executable|-readable|/*777',
  ps: '--*|-C',
  diff: '--color*',
};

const TOOLS_OF_LINUX = ['timeout', 'setsid', 'nproc', 'tac', 'apt-get', 'systemctl', 'getfattr', 'shuf'];

/**
 * Fills a directory with tools as macOS has them. A call that only GNU's tools accept fails, and is a line of `refused`
 * in the directory. With the directory as PATH, tools that macOS lacks are not found.
 */
export function writeBsdTools(bin: string): void {
  for (const tool of AS_THEY_ARE.split(' ')) symlinkSync(programOf(tool), join(bin, tool));
  for (const [tool, patterns] of Object.entries(GNU_ONLY)) {
    writeProgram(
      join(bin, tool),
      `for word in "$@"; do case $word in ${patterns}) echo "${tool} $*" >>"${bin}/refused"; exit 64 ;; esac; done\nexec ${programOf(tool)} "$@"\n`,
    );
  }
  writeProgram(join(bin, 'uname'), 'echo Darwin\n');
  for (const tool of TOOLS_OF_LINUX) writeProgram(join(bin, tool), `echo "${tool} $*" >>"${bin}/refused"\nexit 127\n`);
}

export function writeProgram(file: string, body: string): void {
  writeFileSync(file, `#!/bin/sh\n${body}`);
  chmodSync(file, 0o755);
}

function programOf(tool: string): string {
  const places = ['/usr/bin', '/bin', '/usr/sbin', '/sbin'].map((dir) => join(dir, tool));
  const found = places.find((file) => ((statSync(file, { throwIfNoEntry: false })?.mode ?? 0) & 0o111) !== 0);
  if (found === undefined) throw new Error(`no ${tool} on this machine`);
  return found;
}
