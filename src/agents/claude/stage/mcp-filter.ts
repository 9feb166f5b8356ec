import { asObject, type JsonObject } from '../../../core/text/json-in.ts';

export interface FilteredServers {
  readonly servers: JsonObject;
  /** 'name (why)', for messages. */
  readonly leftOut: readonly string[];
  /** For each that is left out only for its login: the command that keeps the login on the host. */
  readonly offers: readonly string[];
}

/** Programs in the image that may start a server. */
const PROGRAMS = new Set(['node', 'npx', 'python3', 'python', 'bash', 'sh']);

/**
 * The user's MCP servers that can run inside, without those that are replaced by name: programs in the image without paths of the host, and addresses without
 * headers. A server with environment values, headers or a word that looks like a key may hold a secret, and secrets stay
 * on the host.
 */
export function filterServers(servers: unknown, replaced: JsonObject = {}): FilteredServers {
  const kept: JsonObject = {};
  const leftOut: string[] = [];
  const offers: string[] = [];
  for (const [name, value] of Object.entries(asObject(servers) ?? {})) {
    if (Object.hasOwn(replaced, name)) continue;
    const server = asObject(value);
    const why = whyNot(server);
    if (why === undefined) kept[name] = value;
    else leftOut.push(`${name} (${why})`);
    const offer =
      why === HAS_LOGIN ? offerOf(name, server) : why === HAS_VALUES ? programOffer(name, server) : undefined;
    if (offer !== undefined) offers.push(offer);
  }
  return { servers: kept, leftOut, offers };
}

const HAS_VALUES = 'has environment values, which may be secrets';
const HAS_LOGIN = 'has headers or a login, which may be secrets';

/** Only for a name and an address that are safe to paste into a shell. */
function offerOf(name: string, server: JsonObject | undefined): string | undefined {
  const address = server?.['url'];
  const isPlain =
    typeof address === 'string' && !hasSecret(address) && /^https:\/\/[\w.-]+(\/[\w./-]*)?$/.test(address);
  return isPlain && /^[\w-]{1,64}$/.test(name)
    ? `run-claude mcp add ${name} --url ${address} ${server?.['oauth'] === undefined ? "--from 'COMMAND'" : '--oauth'}`
    : undefined;
}

/** As {@link offerOf}, for a program that could run inside but for its values. */
function programOffer(name: string, server: JsonObject | undefined): string | undefined {
  const { env, ...rest } = server ?? {};
  const args: unknown[] = Array.isArray(rest['args']) ? rest['args'] : [];
  const words = [rest['command'], ...args];
  const variables = Object.keys(asObject(env) ?? {});
  const isPlain =
    whyNot(rest) === undefined &&
    words.every((word) => typeof word === 'string' && /^[\w@./:=-]+$/.test(word)) &&
    variables.every((variable) => /^[A-Za-z_]\w*$/.test(variable));
  if (!isPlain || !/^[\w-]{1,64}$/.test(name)) return undefined;
  const secrets = variables.map((variable) => `--secret '${variable}=COMMAND'`);
  // It fetches the server when it starts.
  const hosts = rest['command'] === 'npx' ? ['--host registry.npmjs.org'] : [];
  return ['run-claude mcp add', name, ...secrets, ...hosts, '--', ...words].join(' ');
}

function whyNot(server: JsonObject | undefined): string | undefined {
  if (server === undefined) return 'not understood';
  if (Object.keys(asObject(server['env']) ?? {}).length > 0) return HAS_VALUES;
  if (server['headers'] !== undefined || server['headersHelper'] !== undefined || server['oauth'] !== undefined)
    return HAS_LOGIN;
  const address = server['url'];
  if (typeof address === 'string') return hasSecret(address) ? 'its address may hold a secret' : undefined;
  const command = server['command'];
  if (typeof command !== 'string') return 'not understood';
  if (!PROGRAMS.has(command)) return 'its program is not in the image';
  const args: unknown[] = Array.isArray(server['args']) ? server['args'] : [];
  if (!args.every((argument) => typeof argument === 'string')) return 'not understood';
  if (args.some(mayBeSecret)) return 'its arguments may hold a secret';
  return args.some((argument) => /^(\/|~|[A-Za-z]:\\)|=\//.test(argument)) ? 'points at a path of the host' : undefined;
}

/** Judged by the name of an option, by the whole argument, and by the text after its '='. */
function mayBeSecret(argument: string): boolean {
  if (/token|secret|passw|api-?key|credential|auth|bearer/i.test(argument)) return true;
  return [argument, argument.slice(argument.indexOf('=') + 1)].some(looksSecret);
}

/** An address with a login, or a text in the form of a key: a known prefix, or a long mix of letters and digits. */
function looksSecret(value: string): boolean {
  if (/^[a-z][\w+.-]*:\/\//i.test(value)) return hasSecret(value);
  if (/^(sk|pk|gh[a-z]|github_pat|xox[a-z]|glpat)[-_]/.test(value)) return true;
  return /^(?=.*\d)(?=.*[a-z])[\w+/]{20,}=*$/i.test(value);
}

/** A part of a path that is long and mixes letters and digits: some services put the key there. */
const looksRandom = (part: string): boolean => /^(?=.*\d)(?=.*[a-z])[\w.~-]{16,}$/i.test(part);

function hasSecret(address: string): boolean {
  if (!URL.canParse(address)) return true;
  const url = new URL(address);
  const parts = url.pathname.split('/');
  return [url.username, url.password, url.search, url.hash].some((part) => part !== '') || parts.some(looksRandom);
}
