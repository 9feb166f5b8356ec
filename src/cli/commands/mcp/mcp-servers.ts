import path from 'node:path';
import { loginStore, type McpLogin, NOT_REVOKED } from '../../../agents/mcp-login/login-store.ts';
import { readConfigFile } from '../../../core/config/config-file.ts';
import { addServer, removeServer } from '../../../core/config/mcp-table.ts';
import { usageError } from '../../../core/errors.ts';
import { readSmallFile } from '../../../core/host/files/small-file.ts';
import { jsonText } from '../../../core/report/json.ts';
import type { McpProgram, McpServer } from '../../../core/types/policy.ts';
import { wayOut } from '../../../network/gateway/rules/mcp-programs.ts';
import { checkMcpServer } from '../../../network/gateway/rules/mcp-servers.ts';
import { directoryError, programDirectory } from '../../../session/stage/servers/usable-servers.ts';
import { cleanLine } from '../../../terminal/clean.ts';
import type { CommandContext } from '../../context/context.ts';
import type { CommandLineOfCommand } from '../../grammar/parse-command-line.ts';
import { changeConfig, configFileOf } from '../../policy/change-config.ts';

/** `mcp add NAME --url URL`, `mcp add NAME -- PROGRAM ARG…`, `mcp list`, `mcp remove NAME`: the `[[mcp]]` tables of the user's configuration file. */
export async function mcpServersCommand(line: CommandLineOfCommand, context: CommandContext): Promise<number> {
  const [word, name, extra] = line.words;
  const file = configFileOf(context);
  const more = extra ?? (word === 'add' ? undefined : line.rest[0]);
  if (more !== undefined) throw usageError(`mcp: unexpected '${cleanLine(more)}'`, USAGE);
  if (word === 'list') {
    if (name !== undefined) throw usageError(`mcp list: unexpected '${cleanLine(name)}'`, USAGE);
    return list(line, context, file);
  }
  if (name === undefined) throw usageError(`mcp ${word}: a name is missing`, USAGE);
  if (word === 'add') {
    if (!/^[A-Za-z0-9_-]+$/.test(name))
      throw usageError(`mcp add: '${cleanLine(name)}' is not a valid name`, 'Use letters, digits, - and _.');
    const server = line.rest.length > 0 ? programOf(name, line, context.cwd) : serverOf(name, line);
    if ('url' in server) checkMcpServer(server);
    else {
      wayOut(server);
      programDirectory(server, { roots: [], isLocal: true });
    }
    await changeConfig(context, (text) => addServer(text, server, file));
    const isLoginMissing = 'url' in server && server.oauth === true;
    say(
      context,
      `added to ${file}; ${isLoginMissing ? `log in: run-claude mcp login ${name}` : 'the next session has it'}`,
    );
  } else {
    const { mcpServers } = readConfigFile(readSmallFile(file, 'follow') ?? '', file);
    await changeConfig(context, (text) => removeServer(text, name, file));
    if (mcpServers.some((server) => server.name === name && server.oauth === true)) {
      const store = loginStore(context.places.dataDir, name);
      if (await store.locked(() => store.remove())) say(context, NOT_REVOKED);
    }
    say(context, `removed from ${file}`);
  }
  return 0;
}

function say({ tell }: CommandContext, text: string): void {
  tell({ kind: 'message', level: 'info', text: cleanLine(text) });
}

const USAGE = 'Its usage: run-claude mcp --help';

function serverOf(name: string, { options }: CommandLineOfCommand): McpServer {
  const url = options.get('url')?.at(-1);
  if (url === undefined) throw usageError('mcp add: --url, or a program after --, is missing', USAGE);
  refuseOptions(options, ['directory', 'secret', 'host'], 'a program after --');
  if (options.has('oauth')) refuseOptions(options, ['from', 'header'], 'a server without --oauth');
  const command = options.get('from')?.at(-1);
  const header = options.get('header')?.at(-1);
  if (command === undefined && header !== undefined)
    throw usageError('mcp add: --header needs --from', 'For example --from \'echo "Bearer $(pass show NAME)"\'.');
  const tools = options.get('tool');
  return {
    name,
    url,
    ...(command === undefined ? {} : { header: header ?? 'Authorization', from: ['sh', '-c', command] }),
    ...(options.has('oauth') ? { oauth: true } : {}),
    ...(tools === undefined ? {} : { tools }),
  };
}

function programOf(name: string, { options, rest }: CommandLineOfCommand, cwd: string): McpProgram {
  refuseOptions(options, ['url', 'from', 'header', 'oauth'], '--url');
  const directory = options.get('directory')?.at(-1);
  const tools = options.get('tool');
  return {
    name,
    command: rest,
    ...(directory === undefined ? {} : { directory: path.resolve(cwd, directory) }),
    env: {},
    secrets: Object.fromEntries((options.get('secret') ?? []).map(secretOf)),
    hosts: options.get('host') ?? [],
    ...(tools === undefined ? {} : { tools }),
  };
}

function secretOf(text: string): readonly [string, readonly string[]] {
  const [, variable, command] = /^([A-Za-z_]\w*)=([\s\S]+)$/.exec(text) ?? [];
  if (variable === undefined || command === undefined)
    throw usageError(
      `mcp add: --secret ${cleanLine(text)} is not NAME=COMMAND`,
      "For example --secret 'API_TOKEN=pass show NAME'.",
    );
  return [variable, ['sh', '-c', command]];
}

function refuseOptions(options: CommandLineOfCommand['options'], names: readonly string[], what: string): void {
  const found = names.find((name) => options.has(name));
  if (found !== undefined) throw usageError(`mcp add: --${found} belongs to ${what}`, USAGE);
}

/** A login for another address does not count. */
function loginWords(stored: McpLogin | undefined, url: string): string {
  if (stored?.server !== url) return 'not logged in';
  return `logged in at ${new URL(stored.issuer).host}`;
}

async function list(
  { options }: CommandLineOfCommand,
  { write, tell, places: { dataDir } }: CommandContext,
  file: string,
): Promise<number> {
  const { mcpServers, mcpPrograms } = readConfigFile(readSmallFile(file, 'follow') ?? '', file);
  if (options.has('json')) {
    write(jsonText([...mcpServers, ...mcpPrograms]));
    return 0;
  }
  if (mcpServers.length + mcpPrograms.length === 0) {
    const text = 'There are no MCP servers. Add one with: run-claude mcp add NAME --url URL';
    tell({ kind: 'message', level: 'info', text });
  }
  for (const { name, url, header, oauth, tools } of mcpServers) {
    const stored = oauth === true ? await loginStore(dataDir, name).read() : undefined;
    const login = oauth === true ? loginWords(stored, url) : header === undefined ? 'no login' : `login in ${header}`;
    write(`${name}  ${cleanLine(url)}  ${cleanLine(login)}; ${cleanLine(tools?.join(', ') ?? 'all tools')}\n`);
  }
  for (const program of mcpPrograms) {
    const { name, command, secrets, hosts, tools } = program;
    const isFound = directoryError(program, { roots: [], isLocal: true }) === undefined;
    const facts = [
      ...(isFound ? [] : [`LEFT OUT: ${program.directory} is not a directory`]),
      `secrets: ${Object.keys(secrets).join(', ') || 'none'}`,
      `hosts: ${hosts.join(', ') || 'none'}`,
      tools?.join(', ') ?? 'all tools',
    ];
    write(`${name}  ${cleanLine(command.join(' '))}  ${cleanLine(facts.join('; '))}\n`);
  }
  return 0;
}
