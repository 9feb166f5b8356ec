import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';
import type { AgentFolders } from './agent-folders.ts';
import { guardFolder, isGuardFolder } from './guard-folder.ts';

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
  // Not XDG_CONFIG_DIRS and XDG_DATA_DIRS: editors and openers of addresses take programs from there.
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
  'XDG_STATE_HOME',
  'XDG_CACHE_HOME',
  'XDG_RUNTIME_DIR',
]);
const isKept = (name: string): boolean => KEPT.has(name) || name.startsWith('RUN_CLAUDE_');

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

/**
 * The folders of PATH that exist, are absolute and outside. Programs start others by their names: where the first program of a name is
 * a link that leads inside, a folder before all others has another one of that name, or one that refuses.
 */
function outsidePath(value: string, folders: AgentFolders): string {
  const found = value.split(':').flatMap((dir) => {
    const real = path.isAbsolute(dir) ? folders.resolve(dir) : undefined;
    // The one of an earlier call, or of the process that started this one, is made anew for what is known by now.
    return real === undefined || real === 'inside' || isGuardFolder(real) ? [] : [real];
  });
  const dirs = [...new Set(found)];
  const links = new Map(dirs.map((dir) => [dir, new Set(folders.linksInside(dir))]));
  const leadsInside = (dir: string, name: string): boolean => links.get(dir)?.has(name) === true;
  const guarded = new Map<string, string | undefined>();
  for (const name of new Set([...links.values()].flatMap((names) => [...names]))) {
    const having = dirs.filter((dir) => leadsInside(dir, name) || isProgram(path.join(dir, name)));
    if (!leadsInside(having[0] ?? '', name)) continue;
    const dir = having.find((one) => !leadsInside(one, name));
    guarded.set(name, dir && path.join(dir, name));
  }
  if (guarded.size === 0) return dirs.join(':');
  const guard = guardFolder(guarded, folders);
  // Without a place for that folder: those with such a link are left out whole.
  return (guard === undefined ? dirs.filter((dir) => links.get(dir)?.size === 0) : [guard, ...dirs]).join(':');
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
