import type { Candidate } from './candidates.ts';

/** A shell that completes command lines. */
export interface CompletedShell {
  /** What the user's own files of the shell take. */
  readonly script: string;
  /** One candidate, as the script reads it. */
  readonly line: (candidate: Candidate) => string;
}

// Where there is no candidate, each of them completes names of files.

const BASH = `_run_claude() {
  local IFS=$'\\n'
  COMPREPLY=($(run-claude completion bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == *= ]] && compopt -o nospace
}
complete -o default -F _run_claude run-claude
`;

const ZSH = `#compdef run-claude
_run_claude() {
  local -a found
  found=("\${(@f)$(run-claude completion zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n \${found[1]} ]]; then
    _describe -V run-claude found
  else
    _files
  fi
}
compdef _run_claude run-claude
`;

// fish's own function for paths gives the names in a folder to ls, where a file can be named like an option. So fish gets a
// condition, whether there are candidates, and completes files itself otherwise.
const FISH = `function __run_claude_find
  set -l words (commandline -opc) (commandline -ct)
  set -g __run_claude_found (run-claude completion fish -- $words[2..-1] 2>/dev/null)
  test (count $__run_claude_found) -gt 0
end
complete -c run-claude -n __run_claude_find -f -a '$__run_claude_found'
`;

export const COMPLETED_SHELLS = {
  bash: { script: BASH, line: ({ word }) => word },
  zsh: {
    script: ZSH,
    line: ({ word, help }) => `${word.replaceAll(':', '\\:')}${help === '' ? '' : `:${help}`}`,
  },
  fish: { script: FISH, line: ({ word, help }) => `${word}${help === '' ? '' : `\t${help}`}` },
} as const satisfies Readonly<Record<string, CompletedShell>>;
