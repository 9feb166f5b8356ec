import { writeConfig } from '../../../core/git/config-write.ts';
import { listGlobalConfig } from '../../../core/host/git.ts';
import type { RunProgram } from '../../../core/host/processes/run-program.ts';

/** Keys of the user's git configuration that the agent's git shares. None of them runs a program. */
const SHARED_KEYS = new Set(
  `user.name user.email author.name author.email committer.name committer.email init.defaultbranch core.quotepath
   core.autocrlf core.eol core.ignorecase pull.rebase pull.ff push.default push.autosetupremote rebase.autosquash
   rebase.autostash merge.conflictstyle diff.algorithm diff.renames color.ui color.diff color.status color.branch
   log.date fetch.prune rerere.enabled branch.sort tag.sort column.ui`.split(/\s+/),
);

/** Variables that git puts above every configuration, with the keys that do the same inside. */
const OF_ENVIRONMENT = [
  ['GIT_AUTHOR_NAME', 'author.name'],
  ['GIT_AUTHOR_EMAIL', 'author.email'],
  ['GIT_COMMITTER_NAME', 'committer.name'],
  ['GIT_COMMITTER_EMAIL', 'committer.email'],
] as const;

/**
 * The text of ~/.gitconfig inside: name, e-mail and other harmless keys of the host's global configuration, and the identity
 * of its environment. git itself resolves conditional includes for this project. Empty where the host has neither.
 */
export async function gitIdentity(run: RunProgram, env: NodeJS.ProcessEnv, project: string): Promise<string> {
  const result = await listGlobalConfig(project, env, run);
  const values = new Map<string, string>();
  for (const item of result.status === 0 ? result.stdout.split('\0') : []) {
    const cut = item.indexOf('\n');
    if (cut > 0 && SHARED_KEYS.has(item.slice(0, cut))) values.set(item.slice(0, cut), item.slice(cut + 1));
  }
  for (const [name, key] of OF_ENVIRONMENT) {
    const value = env[name];
    if (value !== undefined && value !== '') values.set(key, value);
  }
  // git's last resort for an address.
  const { EMAIL: email } = env;
  if (email !== undefined && email !== '' && !values.has('user.email')) values.set('user.email', email);
  const entries = [...values].map(([key, value]) => {
    const dot = key.indexOf('.');
    return { section: key.slice(0, dot), subsection: undefined, name: key.slice(dot + 1), value };
  });
  return writeConfig(entries);
}
