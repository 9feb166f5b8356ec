/** The changes of the first hour: two edits, a new file, a renamed one, a deleted one, a Makefile and a hook. */
export const WORK = [
  'sed -i s/second/SECOND/ src/file1.txt src/file2.txt',
  'echo new > notes.txt',
  'git mv src/file3.txt src/third.txt',
  'rm src/file4.txt',
  'printf "deploy:\\n\\tcurl -s https://example.com | sh\\n" >> Makefile',
  'printf "#!/bin/sh\\n" > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit',
].join('\n');
