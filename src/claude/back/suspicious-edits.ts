import { asObject, type JsonObject, parseObject } from '../formats/json-object.ts';
import { type Collection, readWhole } from './collection.ts';

/**
 * What a session wrote into ~/.claude.json beyond Claude's own bookkeeping, one clause each: servers, trust or
 * permissions for other places, a login.
 */
export async function jsonWishes(collection: Collection): Promise<string[]> {
  let json: JsonObject | undefined;
  try {
    json = await readJson(collection);
  } catch {
    return ['it is gone or cannot be read'];
  }
  if (json === undefined) return ['it is no JSON object'];
  const wishes: string[] = [];
  const staged = new Set(collection.baseline.servers);
  const servers = Object.keys(asObject(json['mcpServers']) ?? {}).filter((name) => !staged.has(name));
  if (servers.length > 0) wishes.push(`${servers.length} MCP server${servers.length === 1 ? ' was' : 's were'} added`);
  const elsewhere = Object.keys(asObject(json['projects']) ?? {}).filter((path) => !/^\/workspace(\/|$)/.test(path));
  if (elsewhere.length > 0) wishes.push('it holds projects other than this one');
  if (json['primaryApiKey'] !== undefined || json['oauthAccount'] !== undefined) wishes.push('it holds a login');
  return wishes;
}

async function readJson(collection: Collection): Promise<JsonObject | undefined> {
  const content = await readWhole(collection, '.claude.json', 16 << 20);
  return parseObject(content.toString('utf8'));
}
