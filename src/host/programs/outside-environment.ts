import path from 'node:path';
import type { AgentFolders } from './agent-folders.ts';

/**
 * Variables that say where something is and start nothing. The directories of run-claude and the home directory are
 * refused as a project, and what contains them too.
 */
const KEPT: ReadonlySet<string> = new Set([
  'PWD',
  'OLDPWD',
  'INIT_CWD',
  'HOME',
  'CLAUDE_CONFIG_DIR',
  'CLAUDE_PROJECT_DIR',
]);
const isKept = (name: string): boolean => KEPT.has(name) || name.startsWith('XDG_') || name.startsWith('RUN_CLAUDE_');

export interface OutsideEnvironment {
  readonly env: NodeJS.ProcessEnv;
  /** Names of variables that are left out. */
  readonly dropped: readonly string[];
}

/**
 * The environment without what leads into a folder that an agent can write: a program, a library, a module or a
 * configuration there would be the agent's. PATH keeps its other folders, without links. Any other variable with a path
 * into such a folder is left out whole, whatever it is for: no list of names could be complete.
 */
export function outsideEnvironment(env: NodeJS.ProcessEnv, folders: AgentFolders): OutsideEnvironment {
  const dropped: string[] = [];
  const kept: NodeJS.ProcessEnv = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) continue;
    if (name === 'PATH') kept[name] = outsidePath(value, folders);
    else if (!isKept(name) && (folders.leadsInside(value) || isLoadedFromHere(name, value))) dropped.push(name);
    else kept[name] = value;
  }
  return { env: kept, dropped };
}

/** Whether the loader would look for libraries in the current folder of a program. */
function isLoadedFromHere(name: string, value: string): boolean {
  return /^(LD|DYLD)_/.test(name) && value.split(/[: ]/).some((one) => !path.isAbsolute(one));
}

/** The folders of PATH that exist, are absolute and outside. One whose links lead inside is left out whole. */
function outsidePath(value: string, folders: AgentFolders): string {
  const dirs = value.split(':').flatMap((dir) => {
    const real = path.isAbsolute(dir) ? folders.resolve(dir) : undefined;
    return real === undefined || real === 'inside' || folders.hasLinkInside(real) ? [] : [real];
  });
  return [...new Set(dirs)].join(':');
}
