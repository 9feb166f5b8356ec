import { asObject, type JsonObject } from '../formats/json-object.ts';

export interface FilteredServers {
  readonly servers: JsonObject;
  /** 'name (why)', for messages. */
  readonly leftOut: readonly string[];
}

/** Programs in the image that may start a server. */
const PROGRAMS = new Set(['node', 'npx', 'python3', 'python', 'bash', 'sh']);

/**
 * The user's MCP servers that can run inside: programs in the image without paths of the host, and addresses without
 * headers. A server with environment values, headers or a word that looks like a key may hold a secret, and secrets stay
 * on the host.
 */
export function filterServers(servers: unknown): FilteredServers {
  const kept: JsonObject = {};
  const leftOut: string[] = [];
  for (const [name, value] of Object.entries(asObject(servers) ?? {})) {
    const why = whyNot(asObject(value));
    if (why === undefined) kept[name] = value;
    else leftOut.push(`${name} (${why})`);
  }
  return { servers: kept, leftOut };
}

function whyNot(server: JsonObject | undefined): string | undefined {
  if (server === undefined) return 'not understood';
  if (Object.keys(asObject(server['env']) ?? {}).length > 0) return 'has environment values, which may be secrets';
  if (server['headers'] !== undefined || server['headersHelper'] !== undefined || server['oauth'] !== undefined)
    return 'has headers or a login, which may be secrets';
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

function hasSecret(address: string): boolean {
  if (!URL.canParse(address)) return true;
  const url = new URL(address);
  return url.username !== '' || url.password !== '' || url.search !== '';
}
