import { writeConfig } from '../../git/config-write.ts';
import { listGlobalConfig } from '../../host/git.ts';
import type { RunProgram } from '../../host/run-program.ts';

/** Keys of the user's git configuration that the agent's git shares. None of them runs a program. */
const CARRIED = new Set(
  `user.name user.email author.name author.email committer.name committer.email init.defaultbranch core.quotepath
   core.autocrlf core.eol core.ignorecase pull.rebase pull.ff push.default push.autosetupremote rebase.autosquash
   rebase.autostash merge.conflictstyle diff.algorithm diff.renames color.ui color.diff color.status color.branch
   log.date fetch.prune rerere.enabled branch.sort tag.sort column.ui`.split(/\s+/),
);

/**
 * The text of ~/.gitconfig inside: name, e-mail and other harmless keys of the host's global configuration. git itself
 * resolves conditional includes for this project. Empty when the host has no git or no configuration.
 */
export async function gitIdentity(run: RunProgram, env: NodeJS.ProcessEnv, project: string): Promise<string> {
  const result = await listGlobalConfig(project, env, run);
  if (result.status !== 0) return '';
  const values = new Map<string, string>();
  for (const item of result.stdout.split('\0')) {
    const cut = item.indexOf('\n');
    if (cut > 0 && CARRIED.has(item.slice(0, cut))) values.set(item.slice(0, cut), item.slice(cut + 1));
  }
  const entries = [...values].map(([key, value]) => {
    const dot = key.indexOf('.');
    return { section: key.slice(0, dot), subsection: undefined, name: key.slice(dot + 1), value };
  });
  return writeConfig(entries);
}
