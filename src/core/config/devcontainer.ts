import path from 'node:path';
import { type ParseError, parse } from 'jsonc-parser';
import { z } from 'zod';
import { usageError } from '../errors.ts';
import { shellWord } from '../text/shell-word.ts';
import type { ProjectRequest } from '../types/setup/request.ts';
import { MAX_VARIABLE_CHARACTERS, MAX_VARIABLES } from './values/environment.ts';
import { resolveVariables } from './values/variables.ts';

/** Where a project has its devcontainer.json; the first one counts. */
export const DEVCONTAINER_FILES = ['.devcontainer/devcontainer.json', '.devcontainer.json'] as const;

/** What a postCreateCommand usually reads, at the top of a project. */
const MANIFESTS = `package.json package-lock.json npm-shrinkwrap.json pnpm-lock.yaml pnpm-workspace.yaml yarn.lock
  .yarnrc.yml requirements.txt requirements-dev.txt pyproject.toml setup.py setup.cfg poetry.lock uv.lock Pipfile
  Pipfile.lock Gemfile Gemfile.lock composer.json composer.lock go.mod go.sum Cargo.toml Cargo.lock`.split(/\s+/);

/** Keys that say nothing about what is inside. */
const WITHOUT_EFFECT = new Set(['$schema', 'name', 'customizations', 'settings', 'extensions']);
const MAX_COMMAND_CHARACTERS = 4000;
/** As many as a session may show (src/network/preview). */
const MAX_PORTS = 16;
/** Warnings about keys, and characters of one: the project chooses both, and a request is printed after them. */
const MAX_WARNINGS = 20;
const MAX_WARNING_CHARACTERS = 200;

const schema = z.looseObject({
  image: z.string().min(1).max(300).optional(),
  build: z.looseObject({ dockerfile: z.string().optional(), context: z.string().optional() }).optional(),
  dockerFile: z.string().optional(),
  postCreateCommand: z.union([z.string(), z.array(z.string()), z.record(z.string(), z.unknown())]).optional(),
  containerEnv: z.record(z.string(), z.string()).optional(),
  forwardPorts: z.array(z.union([z.number(), z.string()])).optional(),
});

/** What a devcontainer.json asks for. */
export interface Devcontainer extends ProjectRequest {
  /** One line for each key that run-claude does not carry out. */
  readonly unsupported: readonly string[];
}

/**
 * Reads a devcontainer.json. `present` tells which files the project has at its top. `where` names the file in messages.
 *
 * @throws {RunClaudeError} USAGE for text that is not JSON with comments, and for a Dockerfile, with the commands that
 * build it by hand.
 */
export function readDevcontainer(text: string, where: string, present: (name: string) => boolean): Devcontainer {
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { allowTrailingComma: true });
  const parsed = schema.safeParse(value);
  if (errors.length > 0 || !parsed.success) throw usageError(`${where} is not a devcontainer.json that can be read`);
  const { image, build, dockerFile, postCreateCommand, containerEnv = {}, forwardPorts = [], ...rest } = parsed.data;
  const dockerfile = build?.dockerfile ?? dockerFile;
  if (dockerfile !== undefined) throw dockerfileRefused(where, dockerfile, build?.context ?? '.');
  const unsupported: string[] = [];
  const setup = commandOf(postCreateCommand, unsupported);
  const env = plainVariables(containerEnv, where, unsupported);
  const ports = portsOf(forwardPorts, unsupported);
  for (const key of Object.keys(rest)) if (!WITHOUT_EFFECT.has(key)) unsupported.push(reasonFor(key));
  if (build !== undefined) unsupported.push('build: only build.dockerfile is read');
  const files = setup === undefined ? [] : MANIFESTS.filter(present).sort();
  return { environment: { packages: [], setup, env, files }, image, ports, unsupported: capped(unsupported) };
}

function capped(lines: readonly string[]): string[] {
  const shown = lines.slice(0, MAX_WARNINGS).map((line) => line.slice(0, MAX_WARNING_CHARACTERS));
  return lines.length > MAX_WARNINGS ? [...shown, `${lines.length - MAX_WARNINGS} more keys: not used`] : shown;
}

/** Paths in a devcontainer.json are relative to its folder. */
function dockerfileRefused(where: string, dockerfile: string, context: string): Error {
  const folder = path.posix.dirname(where);
  const why = `${where} builds an image from a Dockerfile, which run-claude does not do for a project`;
  const paths = [dockerfile, context].map((named) => path.posix.join(folder, named));
  if (path.posix.isAbsolute(dockerfile) || path.posix.isAbsolute(context) || !paths.every(isProjectsOwn))
    return usageError(why, 'It names files outside the project. Read it, and build the image by hand.');
  const [file = '', directory = ''] = paths.map((one) => shellWord(one === './' || one === '.' ? '.' : `./${one}`));
  const build = `docker build -t my-devcontainer -f ${file} ${directory}`;
  return usageError(why, `Read the Dockerfile, then run these two: ${build} && run-claude --image my-devcontainer`);
}

/** A normalized path that stays in the project, without control characters: the user is to paste it. */
function isProjectsOwn(named: string): boolean {
  return named.split('/').every((part) => part !== '..' && !part.startsWith('-')) && !/[\0-\x1f\x7f]/.test(named);
}

function commandOf(command: unknown, unsupported: string[]): string | undefined {
  if (command === undefined) return undefined;
  const text = Array.isArray(command) ? command.map((word) => shellWord(String(word))).join(' ') : command;
  if (typeof text === 'string' && text.trim() !== '' && text.length <= MAX_COMMAND_CHARACTERS && !text.includes('\0'))
    return text;
  unsupported.push('postCreateCommand: only one command is run');
  return undefined;
}

/** Variables with a value that needs nothing of the host. */
function plainVariables(
  variables: Readonly<Record<string, string>>,
  where: string,
  unsupported: string[],
): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(variables)) {
    try {
      if (Object.keys(env).length >= MAX_VARIABLES || name.length + value.length > MAX_VARIABLE_CHARACTERS)
        throw usageError('it is one variable too many, or too long');
      if (value.includes('${')) throw usageError('it names a value of the host or the container');
      Object.assign(env, resolveVariables([`${name}=${value}`], {}, where));
    } catch (error) {
      unsupported.push(`containerEnv ${name}: ${(error as Error).message}`);
    }
  }
  return env;
}

/** Ports of the session itself, sorted, so that an order makes no other request. */
function portsOf(named: readonly (number | string)[], unsupported: string[]): readonly number[] {
  const ports = new Set<number>();
  for (const one of named) {
    const port = Number(typeof one === 'number' ? one : /^(?:localhost:)?(\d{1,5})$/.exec(one)?.[1]);
    if (!Number.isInteger(port) || port < 1 || port > 65_535)
      unsupported.push(`forwardPorts ${one}: it is not a port of the session itself`);
    else if (ports.size >= MAX_PORTS && !ports.has(port)) unsupported.push(`forwardPorts ${port}: it is one too many`);
    else ports.add(port);
  }
  return [...ports].sort((a, b) => a - b);
}

function reasonFor(key: string): string {
  if (key === 'remoteUser' || key === 'containerUser')
    return `${key}: the agent is always the user agent, without root`;
  return `${key}: not used`;
}
