import { appendFileSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { EXIT, RunClaudeError } from '../../errors.ts';
import { packageRoot } from '../package.ts';
import {
  AGENT_FOLDERS_FILE,
  AgentFolders,
  lineOfFolder,
  possibleProject,
  readAgentFolders,
  realFolderOf,
} from './agent-folders.ts';
import { distrust } from './start-program.ts';

/**
 * Distrusts what an agent may have written before this command: the folders of earlier bind sessions, and the project
 * that this command may be about. `words` are the words of the command line: a folder among them may be a project.
 */
export function distrustBefore(
  words: readonly string[],
  { cwd, home, stateDir }: { readonly cwd: string; readonly home: string; readonly stateDir: string },
): void {
  const named = words.map((word) => (word.startsWith('--also=') ? word.slice('--also='.length) : word));
  const folders = ['.', ...named.filter((word) => word !== '' && !word.startsWith('-') && !word.includes('\0'))]
    .map((word) => realFolderOf(path.resolve(cwd, word.replace(/:ro$/, ''))))
    .flatMap((folder) => (folder === undefined ? [] : (possibleProject(folder, home) ?? [])));
  distrust([...folders, ...readAgentFolders(stateDir)]);
}

/**
 * Records that the agent of a bind session can write these folders, for every later command.
 *
 * @throws what the file system throws: without this record the session must not start.
 */
export function recordAgentFolders(stateDir: string, folders: readonly string[]): void {
  const known = new Set(readAgentFolders(stateDir));
  const lines = folders.map(lineOfFolder).filter((line) => !known.has(line));
  if (lines.length === 0) return;
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  appendFileSync(path.join(stateDir, AGENT_FOLDERS_FILE), lines.map((line) => `${line}\n`).join(''), { mode: 0o600 });
}

/**
 * Refuses to start an agent in folders, of which one has the parts of run-claude that run then. The same for the folders
 * of earlier bind sessions.
 *
 * @throws {RunClaudeError} PACKAGE_IN_PROJECT for run-claude itself, or the Node that runs it
 */
export function requireOutsidePackage(
  folders: readonly string[],
  stateDir: string,
  parts: Readonly<Record<string, string>> = { 'run-claude': packageRoot, 'Node.js': process.execPath },
): void {
  const written = new AgentFolders();
  written.add([...folders, ...readAgentFolders(stateDir)]);
  for (const [name, file] of Object.entries(parts)) {
    if (written.resolve(file) !== 'inside') continue;
    throw new RunClaudeError('PACKAGE_IN_PROJECT', `${name} is in a folder that the agent can write: ${file}`, {
      hint: `Install ${name} outside of the project, for example with npm install --global.`,
      status: EXIT.usage,
    });
  }
}
