import { appendFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { COPY_MODE, EXIT, RunClaudeError } from '../../errors.ts';
import type { Places } from '../facts.ts';
import { pathIdentity } from '../files/true-path.ts';
import { packageRoot } from '../package.ts';
import {
  AGENT_FOLDERS_FILE,
  AgentFolders,
  identityLine,
  possibleProject,
  readAgentFolders,
  realFolderOf,
} from './agent-folders.ts';
import { folderIdentity } from './folder-identity.ts';
import { settingsInside } from './settings-files.ts';
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
  const { paths, identities } = readAgentFolders(own.stateDir);
  distrust([...(around === undefined ? [] : [around]), ...Object.values(own), ...paths], identities);
}

/**
 * Records that the agent of a bind session can write these folders, for every later command: by their paths, and by what
 * stays of them when they are renamed.
 *
 * @throws what the file system throws: without this record the session must not start.
 */
export function recordAgentFolders(stateDir: string, folders: readonly string[]): void {
  const { paths, identities } = readAgentFolders(stateDir);
  const known = new Set([...paths, ...identities.map(identityLine)]);
  const ids = folders.flatMap((folder) => folderIdentity(folder) ?? []);
  const lines = [...folders, ...ids.map(identityLine)].filter((line) => !known.has(line));
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
  programs: Readonly<Record<string, string>> = OWN_PROGRAMS,
): void {
  const written = new AgentFolders();
  const { paths, identities } = readAgentFolders(stateDir);
  written.add([...folders, ...paths], identities);
  const isInside = (file: string): boolean => written.resolve(file) === 'inside';
  refuseProgramsInside(folders, isInside, programs);
  const own = [
    path.join(configDir, 'config.toml'),
    path.join(env['CLAUDE_CONFIG_DIR'] ?? `${home}/.claude`, 'settings.json'),
  ];
  // A file that does not exist counts: the agent could make it.
  const found = own.find(isInside);
  // In copy mode you review their changes.
  const ofOthers = found === undefined && mode === 'bind' ? settingsInside({ home, env }, isInside) : undefined;
  const named = found ?? ofOthers;
  if (named === undefined) return;
  const way = ofOthers === undefined ? 'start the session in another folder' : `work on a copy with ${COPY_MODE}`;
  throw new RunClaudeError('SETTINGS_IN_PROJECT', `${named} leads into a folder that the agent can write`, {
    hint: `It can name programs that run on your machine. Replace the link or the include by a file, or ${way}.`,
    status: EXIT.usage,
  });
}

/**
 * Refuses a command that decides about what others wrote, or has a token, where run-claude itself is in a folder that they
 * can write: it may not be run-claude any more.
 *
 * @throws {RunClaudeError} PACKAGE_IN_PROJECT
 */
export function requirePackageOutside(folders: readonly string[]): void {
  const written = new AgentFolders();
  written.add(folders, []);
  const isInside = (file: string): boolean => written.resolve(file) === 'inside';
  refuseProgramsInside(folders, isInside, OWN_PROGRAMS);
}

const OWN_PROGRAMS: Readonly<Record<string, string>> = { 'run-claude': packageRoot, 'Node.js': process.execPath };

function refuseProgramsInside(
  folders: readonly string[],
  isInside: (file: string) => boolean,
  programs: Readonly<Record<string, string>>,
): void {
  for (const [name, file] of Object.entries(programs)) {
    if (!isInside(file) && !folders.some((folder) => hasLinkOf(file, folder))) continue;
    throw new RunClaudeError('PACKAGE_IN_PROJECT', `${name} is in a folder that the agent can write: ${file}`, {
      hint: `Install ${name} outside of the project, for example with npm install --global.`,
      status: EXIT.usage,
    });
  }
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
