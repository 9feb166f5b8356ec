import path from 'node:path';
import { logIn, type ShownLogin } from '../../../agents/mcp-login/log-in.ts';
import { loginStore, NOT_REVOKED } from '../../../agents/mcp-login/login-store.ts';
import { readConfigFile } from '../../../core/config/config-file.ts';
import { Interrupted, usageError } from '../../../core/errors.ts';
import { readSmallFile } from '../../../core/host/files/small-file.ts';
import { spawn } from '../../../core/host/programs/start-program.ts';
import type { McpServer } from '../../../core/types/policy.ts';
import { mcpHost } from '../../../network/gateway/rules/mcp-servers.ts';
import { ask } from '../../../terminal/ask.ts';
import { cleanLine } from '../../../terminal/clean.ts';
import type { Screen } from '../../../terminal/screen.ts';
import { type CommandContext, optionValue } from '../../context/context.ts';
import { openScreen } from '../../context/open-screen.ts';
import type { CommandLineOfCommand } from '../../grammar/parse-command-line.ts';
import { openLoginQuestion } from './questions.ts';

/** `mcp login NAME`, `mcp logout NAME`: the login to a server of the user's configuration, kept on this machine. */
export async function mcpLoginCommand(line: CommandLineOfCommand, context: CommandContext): Promise<number> {
  const [word, name, extra] = line.words;
  if (name === undefined || extra !== undefined || line.rest.length > 0)
    throw usageError(`mcp ${word}: one name is needed`, 'Its usage: run-claude mcp --help');
  const tell = (text: string): void => context.tell({ kind: 'message', level: 'info', text: cleanLine(text) });
  if (word === 'logout') {
    const store = storeOf(name, context);
    const wasThere = (await store?.locked(() => store.remove())) === true;
    tell(wasThere ? `removed the login to ${name} from this machine` : `there is no login to ${name}`);
    if (wasThere) tell(NOT_REVOKED);
    return 0;
  }
  const { server, allowAddresses } = serverOf(name, context);
  const scopes = optionValue(line, 'scope')?.split(/\s+/).filter(Boolean);
  const show = (login: ShownLogin): Promise<void> => showLogin(name, login, context, tell);
  const { signal } = context.interruption;
  const options = { server: server.url, clientId: optionValue(line, 'client-id'), scopes, show, signal };
  const login = await logIn(options, { env: context.env, allowAddresses });
  const store = loginStore(context.places.dataDir, name);
  await store.locked(() => store.write(login));
  const how = login.refresh === undefined ? 'It cannot be refreshed: log in again when it expires.' : '';
  tell(`logged in to ${name}; the next session has it. ${how}`.trim());
  return 0;
}

function storeOf(name: string, { places }: CommandContext) {
  return /^[A-Za-z0-9_-]{1,64}$/.test(name) ? loginStore(places.dataDir, name) : undefined;
}

interface FoundServer {
  readonly server: McpServer;
  readonly allowAddresses: readonly string[];
}

function serverOf(name: string, { places }: CommandContext): FoundServer {
  const file = path.join(places.configDir, 'config.toml');
  const { mcpServers, values } = readConfigFile(readSmallFile(file, 'follow') ?? '', file);
  const server = mcpServers.find((one) => one.name === name);
  if (server?.oauth !== true)
    throw usageError(
      `${file} has no MCP server ${cleanLine(name)} with oauth`,
      'Add it first: run-claude mcp add NAME --url URL --oauth',
    );
  mcpHost(server);
  const allowed = values.get('allow-address');
  return { server, allowAddresses: Array.isArray(allowed) ? allowed : [] };
}

/** The address is printed in any case: the browser may be on another machine. */
async function showLogin(
  name: string,
  { address, issuer, scopes, port }: ShownLogin,
  context: CommandContext,
  tell: (text: string) => void,
): Promise<void> {
  const what = scopes.length === 0 ? '' : `, for: ${scopes.join(' ')}`;
  tell(`the login to ${name} is at ${new URL(issuer).host}${what}`);
  tell('Open this address in a browser of this machine:');
  context.write(`${cleanLine(address)}\n`);
  if (context.env['SSH_CONNECTION'] !== undefined)
    tell(`Is the browser on another machine? Run there first: ssh -L ${port}:127.0.0.1:${port} THIS_MACHINE`);
  const screen = openScreen(process, context.env, context.interruption);
  if (screen !== undefined && context.env['SSH_CONNECTION'] === undefined)
    await offerToOpen(address, screen, context.env, tell);
}

/** Opens the address after a yes. @throws {Interrupted} at Ctrl-C */
export async function offerToOpen(
  address: string,
  screen: Screen,
  env: NodeJS.ProcessEnv,
  tell: (text: string) => void,
): Promise<void> {
  const opener = process.platform === 'darwin' ? 'open' : 'xdg-open';
  const answer = await ask(screen, openLoginQuestion());
  if (answer === undefined) throw new Interrupted('SIGINT');
  if (answer.key === 'n') return;
  const child = spawn(opener, [address], { env, detached: true, stdio: 'ignore' });
  child.on('error', () => tell(`${opener} does not start: open the address yourself`));
  child.unref();
}
