import { type Scene, SHORT_MS, scenes } from './scene.ts';

/** What a prompt, an editor and a user ask of git, and what a shell does in the folder. */
export const ANY_SCENES: readonly Scene[] = scenes({ limitMs: SHORT_MS }, [
  ['git status', '.git', 'git'],
  ['git log', '.git', 'git', 'git log -5 --stat'],
  ['git diff', '.git', 'git'],
  ['git fetch', '.git', 'git', 'git init -q --bare /tmp/remote.git && git fetch -q /tmp/remote.git'],
  ['git add', '.git', 'git', 'git add -A'],
  ['git commit', '.git', 'git', 'git commit -q --allow-empty -m rehearsal'],
  ['git checkout', '.git', 'git', 'git checkout -q -b rehearsal && git checkout -q -'],
  ['bash in the folder', '', 'bash', 'bash -ic :'],
  ['zsh in the folder', '.zshrc .zshenv', 'zsh', 'zsh -ic :'],
  ['fish in the folder', '.config/fish config.fish', 'fish', 'fish -ic true'],
  ['direnv', '.envrc', 'direnv', 'direnv allow . && direnv export bash'],
  ['mise', '.mise.toml mise.toml .tool-versions', 'mise', 'mise trust -q && mise env'],
]);
