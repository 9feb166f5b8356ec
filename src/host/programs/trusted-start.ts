import { appendFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { EXIT, RunClaudeError } from '../../errors.ts';
import type { Places } from '../facts.ts';
import { packageRoot } from '../package.ts';
import { pathIdentity } from '../true-path.ts';
import { AGENT_FOLDERS_FILE, AgentFolders, possibleProject, readAgentFolders, realFolderOf } from './agent-folders.ts';
import { distrust } from './start-program.ts';

/** Where a command starts, and the directories of its user. */
export type StartPlaces = Omit<Places, 'configDir'> & { readonly cwd: string };

/**
 * Distrusts what an agent may have written before this command: the folders of earlier bind sessions, run-claude's own
 * directories, which hold homes and copies of agents, and the project around the current folder. The command adds the
 * folders that it is about.
 */
export function distrustBefore({ cwd, home, ...own }: StartPlaces): void {
  const here = realFolderOf(cwd);
  const around = here === undefined ? undefined : possibleProject(here, home);
  distrust([...(around === undefined ? [] : [around]), ...Object.values(own), ...readAgentFolders(own.stateDir)]);
}

/**
 * Records that the agent of a bind session can write these folders, for every later command.
 *
 * @throws what the file system throws: without this record the session must not start.
 */
export function recordAgentFolders(stateDir: string, folders: readonly string[]): void {
  const known = new Set(readAgentFolders(stateDir));
  const lines = folders.filter((folder) => !known.has(folder));
  if (lines.length === 0) return;
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  appendFileSync(path.join(stateDir, AGENT_FOLDERS_FILE), lines.map((line) => `${line}\n`).join(''), { mode: 0o600 });
}

/** What of the user's run-claude reads or starts, apart from programs of PATH. */
export type UserPlaces = Pick<Places, 'stateDir' | 'configDir' | 'home'> & { readonly env: NodeJS.ProcessEnv };

/**
 * Refuses to start an agent in folders, of which one has a part of run-claude, or a file that makes run-claude or the
 * programs that it starts run others. The same for the folders of earlier bind sessions. Links count: many people keep
 * such files in a repository.
 *
 * @throws {RunClaudeError} PACKAGE_IN_PROJECT for run-claude itself, or the Node that runs it; SETTINGS_IN_PROJECT
 */
export function requireOutside(
  folders: readonly string[],
  mode: 'copy' | 'bind',
  { stateDir, configDir, home, env }: UserPlaces,
  programs: Readonly<Record<string, string>> = { 'run-claude': packageRoot, 'Node.js': process.execPath },
): void {
  const written = new AgentFolders();
  written.add([...folders, ...readAgentFolders(stateDir)]);
  const isInside = (file: string): boolean => written.resolve(file) === 'inside';
  for (const [name, file] of Object.entries(programs)) {
    if (!isInside(file) && !folders.some((folder) => hasLinkOf(file, folder))) continue;
    throw new RunClaudeError('PACKAGE_IN_PROJECT', `${name} is in a folder that the agent can write: ${file}`, {
      hint: `Install ${name} outside of the project, for example with npm install --global.`,
      status: EXIT.usage,
    });
  }
  const own = [
    path.join(configDir, 'config.toml'),
    path.join(env['CLAUDE_CONFIG_DIR'] ?? `${home}/.claude`, 'settings.json'),
  ];
  const others = mode === 'bind' ? OF_OTHER_PROGRAMS.map((name) => path.join(home, name)) : [];
  // A file that does not exist counts: the agent could make it.
  const found = [...own, ...others].find(isInside);
  if (found === undefined) return;
  throw new RunClaudeError('SETTINGS_IN_PROJECT', `${found} leads into a folder that the agent can write`, {
    hint: 'It names programs that run on your machine. Replace the link by a file, or start the session in another folder.',
    status: EXIT.usage,
  });
}

/** Package managers link the files of one store into many projects: written in one, they are changed in all. */
function hasLinkOf(packageDir: string, folder: string): boolean {
  const main = 'dist/main.js';
  const places = ['node_modules/run-claude', ...pnpmPlaces(folder)];
  const own = pathIdentity(path.join(packageDir, main));
  return places.some((place) => pathIdentity(path.join(folder, place, main)) === own);
}

function pnpmPlaces(folder: string): readonly string[] {
  const store = path.join(folder, 'node_modules/.pnpm');
  if (!existsSync(store)) return [];
  const names = readdirSync(store).filter((name) => name.startsWith('run-claude@'));
  return names.map((name) => `node_modules/.pnpm/${name}/node_modules/run-claude`);
}

/** Files of the home directory by which git, ssh, docker and npm start programs. In copy mode you review their changes. */
const OF_OTHER_PROGRAMS = ['.gitconfig', '.config/git/config', '.ssh/config', '.docker/config.json', '.npmrc'];
