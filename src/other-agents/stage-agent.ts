import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openInstance, readOwnFile } from '../claude/instances/instance.ts';
import { gitIdentity } from '../claude/stage/git-identity.ts';
import type { StagedClaude, StageOptions } from '../claude/stage/stage.ts';
import { stageTree } from '../claude/stage/stage-trees.ts';
import { Staging } from '../claude/stage/staged.ts';
import { packageRoot } from '../host/package.ts';
import { runProgram } from '../host/run-program.ts';

const MAX_FILE_BYTES = 4 << 20;
/** The note for Claude, in the image. */
const NOTE = 'images/claude/root/etc/claude-code/CLAUDE.md';

/** What is staged for an agent, as data. */
export interface AgentStaging {
  /** Its configuration directory inside, relative to the home: '.codex'. */
  readonly dir: string;
  /** Its file with the user's instructions, in that directory; the note about the sandbox is put before them. */
  readonly instructionsFile: string;
  /** Names in its configuration directory that are copied: files, and whole trees. */
  readonly files: readonly string[];
  readonly trees: readonly string[];
}

export interface AgentStageOptions
  extends Pick<StageOptions, 'env' | 'dataDir' | 'projectRoot' | 'gitCommonDir' | 'sessionNote'> {
  /** The agent's configuration directory on the host. */
  readonly from: string;
  /** Files that are made for the session, by their path below the home. */
  readonly made: Readonly<Record<string, string>>;
  /** What was left out of them, one line each. */
  readonly notes: readonly string[];
}

/**
 * A copy of the part of the user's configuration that neither runs nor redirects anything, with the note about the
 * sandbox. The host's directory is never mounted.
 *
 * @throws {RunClaudeError} INSTANCE_FOREIGN
 */
export async function stageAgent(what: AgentStaging, options: AgentStageOptions): Promise<StagedClaude> {
  const staging = new Staging();
  const { env, from, projectRoot } = options;
  for (const dir of [what.dir, '.config', '.cache', '.local']) staging.dir(dir);
  for (const name of what.files) {
    const content = await readOwnFile(join(from, name), MAX_FILE_BYTES);
    if (content !== undefined) staging.file(`${what.dir}/${name}`, content);
  }
  for (const name of what.trees)
    await stageTree(staging, {
      from: join(from, name),
      to: `${what.dir}/${name}`,
      shown: `~/${what.dir}/${name}`,
    });
  const own = await readOwnFile(join(from, what.instructionsFile), MAX_FILE_BYTES);
  const users = own === undefined ? '' : `\n# The user's instructions\n\n${own.toString('utf8')}`;
  const sessionNote = options.sessionNote === undefined ? '' : `\n${options.sessionNote}`;
  staging.file(`${what.dir}/${what.instructionsFile}`, `${noteFor(what.dir)}${sessionNote}${users}`);
  for (const [path, content] of Object.entries(options.made)) staging.file(path, content);
  staging.file('.gitconfig', await gitIdentity(runProgram, env, projectRoot));
  for (const note of options.notes) staging.note(note);
  return {
    entries: staging.entries(),
    env: {},
    notes: staging.notes,
    baseline: { files: staging.baseline(), servers: [], links: [] },
    instance: await openInstance(options.dataDir, projectRoot, options.gitCommonDir),
  };
}

/** The note about the sandbox, for an agent whose data does not come back. */
export function noteFor(dir: string): string {
  const note = readFileSync(join(packageRoot, NOTE), 'utf8');
  return note.replace(
    /^- What you write to `~\/\.claude`[\s\S]*?(?=\n\n)/m,
    `- What you write to \`~/${dir}\` does not reach the host.`,
  );
}
