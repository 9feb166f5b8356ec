import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../core/host/package.ts';
import { runProgram } from '../../core/host/processes/run-program.ts';
import type { ContinuedFile } from '../../core/types/agent/claude-data.ts';
import { openInstance, readOwnFile } from '../claude/instances/instance.ts';
import { gitIdentity } from '../claude/stage/git-identity.ts';
import type { StagedBaseline, StagedClaude } from '../claude/stage/stage.ts';
import type { StageOptions } from '../claude/stage/stage-options.ts';
import { stageTree } from '../claude/stage/stage-trees.ts';
import { Staging } from '../claude/stage/staged.ts';
import { digestOfActing } from './acting-keys.ts';
import type { SettingsWatch } from './collect-agent.ts';

const MAX_FILE_BYTES = 4 << 20;
/** The note for Claude, in the image. */
const NOTE = 'images/claude/root/etc/claude-code/CLAUDE.md';

/** What is staged for an agent, as data. */
export interface AgentStaging {
  /** Its configuration directory inside, relative to the home: '.codex'. */
  readonly dir: string;
  /** Its file with the user's instructions, in that directory. */
  readonly instructionsFile: string;
  /** Directories in its configuration directory that are copied. */
  readonly trees: readonly string[];
}

/** Files and directories of the home. `from` is a path of the host, `to` a path relative to the home inside. */
interface HomeStaging {
  /** The note about the sandbox is put before the user's instructions. `dir`: what the note says does not come back. */
  readonly instructions: (HomeCopy & { readonly dir: string }) | undefined;
  readonly copied: readonly HomeCopy[];
}

interface HomeCopy {
  readonly from: string;
  readonly to: string;
}

export interface AgentStageOptions extends HomeStageOptions {
  /** The agent's configuration directory on the host. */
  readonly from: string;
}

interface HomeStageOptions
  extends Pick<StageOptions, 'env' | 'dataDir' | 'projectRoot' | 'gitCommonDir' | 'sessionNote'> {
  readonly continued?: readonly ContinuedFile[];
  /** Files that are made for the session, by their path below the home. */
  readonly made: Readonly<Record<string, string>>;
  /** Those of them that are settings, and what in each is not a plain preference. */
  readonly watched?: Readonly<Record<string, SettingsWatch['others']>>;
  /** What was left out of them, one line each. */
  readonly notes: readonly string[];
}

/**
 * A copy of the part of the user's configuration that neither runs nor redirects anything, with the note about the
 * sandbox. The host's directory is never mounted.
 *
 * @throws {RunClaudeError} INSTANCE_FOREIGN
 */
export async function stageAgent(
  { dir, instructionsFile, trees }: AgentStaging,
  { from, ...options }: AgentStageOptions,
): Promise<StagedClaude> {
  const at = (name: string): HomeCopy => ({ from: join(from, name), to: `${dir}/${name}` });
  return stageHome({ instructions: { ...at(instructionsFile), dir }, copied: trees.map(at) }, options);
}

/**
 * As {@link stageAgent}, for any paths of the home.
 *
 * @throws {RunClaudeError} INSTANCE_FOREIGN
 */
export async function stageHome(
  { instructions, copied }: HomeStaging,
  options: HomeStageOptions,
): Promise<StagedClaude> {
  const staging = new Staging();
  const { env, projectRoot } = options;
  for (const dir of ['.config', '.cache', '.local']) staging.dir(dir);
  for (const { from, to } of copied) {
    const content = await readOwnFile(from, MAX_FILE_BYTES);
    if (content !== undefined) staging.file(to, content);
    else await stageTree(staging, { from, to, shown: `~/${to}` });
  }
  if (instructions !== undefined) {
    const own = await readOwnFile(instructions.from, MAX_FILE_BYTES);
    const users = own === undefined ? '' : `\n# The user's instructions\n\n${own.toString('utf8')}`;
    const sessionNote = options.sessionNote === undefined ? '' : `\n${options.sessionNote}`;
    staging.file(instructions.to, `${noteFor(instructions.dir)}${sessionNote}${users}`);
  }
  // First: no file of the session takes the place of one that is made for it.
  for (const { path, content } of options.continued ?? []) staging.file(path, content);
  for (const [path, content] of Object.entries(options.made)) staging.file(path, content);
  staging.file('.gitconfig', await gitIdentity(runProgram, env, projectRoot));
  for (const note of options.notes) staging.note(note);
  return {
    entries: staging.entries(),
    env: {},
    notes: staging.notes,
    baseline: { files: withActing(staging.baseline(), options), servers: [], links: [] },
    instance: await openInstance(options.dataDir, projectRoot, options.gitCommonDir),
  };
}

function withActing(files: StagedBaseline['files'], { made, watched = {} }: HomeStageOptions): StagedBaseline['files'] {
  const settings = Object.entries(watched).flatMap(([path, others]) => {
    const [file, acting] = [files[path], digestOfActing(made[path] ?? '', others)];
    return file === undefined || acting === undefined ? [] : [[path, { ...file, acting }] as const];
  });
  return { ...files, ...Object.fromEntries(settings) };
}

/** The note about the sandbox, for an agent whose data does not come back. */
export function noteFor(dir: string): string {
  const note = readFileSync(join(packageRoot, NOTE), 'utf8');
  return note.replace(
    /^- What you write to `~\/\.claude`[\s\S]*?(?=\n\n)/m,
    `- What you write to \`${dir === '' ? '~' : `~/${dir}`}\` does not reach the host.`,
  );
}
