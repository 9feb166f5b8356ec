import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram } from '../../../core/host/processes/run-program.ts';
import { asObject, type JsonObject, parseObject } from '../../../core/text/json-in.ts';
import type { PlaceEntry } from '../../../engines/engine/place.ts';
import { isKnownName, stagedNames } from '../formats/entries.ts';
import { type Instance, openInstance, readOwnFile } from '../instances/instance.ts';
import { ISOLATED_DIR, ISOLATED_LINKS } from '../instances/isolated.ts';
import { profileDir } from '../instances/profile.ts';
import { insideJson } from './claude-json.ts';
import { gitIdentity } from './git-identity.ts';
import { missingInstructions } from './missing-instructions.ts';
import { readSettings } from './read-settings.ts';
import { filterSettings } from './settings-filter.ts';
import type { StageOptions } from './stage-options.ts';
import { stagePlugins } from './stage-plugins.ts';
import { stageProject } from './stage-project.ts';
import { stageTree } from './stage-trees.ts';
import { type StagedFile, Staging } from './staged.ts';

/** What was staged: collectClaude compares with it. Plain data. */
export interface StagedBaseline {
  readonly files: Readonly<Record<string, StagedFile>>;
  /** Names of the MCP servers that were staged. */
  readonly servers: readonly string[];
  /** Staged links: no finding while they are links, whatever their target. */
  readonly links: readonly string[];
}

export interface StagedClaude {
  /** For the session's home, relative to /home/agent, parents first. */
  readonly entries: readonly PlaceEntry[];
  readonly env: Readonly<Record<string, string>>;
  /** What was left out, one line each. */
  readonly notes: readonly string[];
  readonly baseline: StagedBaseline;
  readonly instance: Instance;
}

/**
 * A copy of the user's Claude data for /home/agent: the names in the table of `entries.ts`, filtered. The host's directory
 * is never mounted.
 *
 * @throws {RunClaudeError} INSTANCE_FOREIGN, PROFILE_MISSING, SETTINGS_UNREADABLE
 */
export async function stageClaude(options: StageOptions): Promise<StagedClaude> {
  // git answers while everything else is read.
  const identity = gitIdentity(options.run ?? runProgram, options.env, options.projectRoot);
  identity.catch(() => undefined);
  const staging = new Staging();
  const source = options.profile === undefined ? options.configDir : profileDir(options.ownConfigDir, options.profile);
  const shown = options.profile === undefined ? '~/.claude' : `profile ${options.profile}`;
  for (const dir of ['.claude', '.config', '.cache', '.local']) staging.dir(dir);
  await stageSettings(staging, source, shown, options);
  for (const name of stagedNames('file')) {
    const content = await readOwnFile(join(source, name), 4 << 20);
    const text = name === 'CLAUDE.md' ? withNote(content, options.sessionNote) : content;
    if (text !== undefined) staging.file(`.claude/${name}`, text);
  }
  for (const name of stagedNames('tree'))
    await stageTree(staging, { from: join(source, name), to: `.claude/${name}`, shown: `${shown}/${name}` });
  await stagePlugins(staging, source, '.claude/plugins');
  const staged = new Set(staging.entries().map(({ path }) => path));
  const isStaged = (path: string): boolean => staged.has(`.claude/${path}`);
  const missing = await missingInstructions({ ...options, configDir: source, isStaged });
  if (missing !== undefined) staging.note(missing);
  const servers = await stageJson(staging, options);
  staging.file('.gitconfig', await identity);
  // With --isolate-claude-data too: gc reads from it whether the project of the volume still exists.
  const instance = await openInstance(options.dataDir, options.projectRoot, options.gitCommonDir);
  if (options.isolate) staging.dir(ISOLATED_DIR);
  else await stageProject(staging, instance, options);
  const links = [...(options.isolate ? ISOLATED_LINKS : []), ...(options.links ?? [])];
  for (const { path, target } of links) staging.link(path, target);
  await noteUnknown(staging, options.configDir);
  return {
    entries: staging.entries(),
    env: {},
    notes: staging.notes,
    baseline: { files: staging.baseline(), servers, links: links.map(({ path }) => path) },
    instance,
  };
}

/** The user's instructions with the note about this session. */
function withNote(users: Buffer | undefined, note: string | undefined): Buffer | undefined {
  return note === undefined ? users : Buffer.from([users?.toString('utf8'), note].filter(Boolean).join('\n\n'));
}

async function stageSettings(staging: Staging, dir: string, shown: string, options: StageOptions): Promise<void> {
  const settings = await readSettings(join(dir, 'settings.json'), `${shown}/settings.json`);
  const { settings: kept, dropped } = filterSettings(settings);
  if (dropped.length > 0) staging.note(`${shown}/settings.json: not staged: ${dropped.join(', ')}`);
  if (options.permissions === 'skip') kept['skipDangerousModePermissionPrompt'] = true;
  // For a Claude that is started from a shell. The one that the plan starts gets an option.
  else kept['permissions'] = { ...asObject(kept['permissions']), defaultMode: 'default' };
  staging.file('.claude/settings.json', JSON.stringify({ ...kept, ...options.settings }, undefined, 2));
}

/** Stages ~/.claude.json. Returns the names of its MCP servers. */
async function stageJson(staging: Staging, options: StageOptions): Promise<string[]> {
  const inside = insideJson(await hostJson(options), {
    projectRoot: options.projectRoot,
    workdir: options.workdir ?? '/workspace',
    placeholder: options.placeholder,
    skipPermissions: options.permissions === 'skip',
    servers: options.mcpServers ?? [],
  });
  staging.file('.claude.json', JSON.stringify(inside.json, undefined, 2));
  if (inside.leftOut.length > 0) staging.note(`MCP servers not staged: ${inside.leftOut.join(', ')}`);
  for (const command of inside.offers) staging.note(`The agent can have it without its login: ${command}`);
  return Object.keys(asObject(inside.json['mcpServers']) ?? {});
}

/** The content of ~/.claude.json, or of the one in CLAUDE_CONFIG_DIR when that is set. */
async function hostJson(options: StageOptions): Promise<JsonObject | undefined> {
  const own = options.configDir !== join(options.home, '.claude');
  const path = own ? join(options.configDir, '.claude.json') : join(options.home, '.claude.json');
  const content = await readOwnFile(path, 64 << 20);
  return content === undefined ? undefined : parseObject(content.toString('utf8'));
}

async function noteUnknown(staging: Staging, configDir: string): Promise<void> {
  const names = await readdir(configDir).catch(() => []);
  const unknown = names.filter((name) => !isKnownName(name)).sort();
  if (unknown.length === 0) return;
  const more = unknown.length > 8 ? ` and ${unknown.length - 8} more` : '';
  staging.note(`~/.claude: unknown names, not staged: ${unknown.slice(0, 8).join(', ')}${more}`);
}
