import { asObject, type JsonObject, parseObject } from '../../../core/text/json-in.ts';
import { type Collection, readWhole } from './collection.ts';

/**
 * Edits of ~/.claude.json that Claude does not make by itself, one clause each: servers, trust or permissions for other
 * places, a login.
 */
export async function suspiciousEdits(collection: Collection): Promise<string[]> {
  let json: JsonObject | undefined;
  try {
    json = await readJson(collection);
  } catch {
    return ['it was removed or cannot be read'];
  }
  if (json === undefined) return ['it is not a JSON object'];
  const edits: string[] = [];
  const staged = new Set(collection.baseline.servers);
  const servers = Object.keys(asObject(json['mcpServers']) ?? {}).filter((name) => !staged.has(name));
  if (servers.length > 0) edits.push(`${servers.length} MCP server${servers.length === 1 ? ' was' : 's were'} added`);
  const elsewhere = Object.keys(asObject(json['projects']) ?? {}).filter((path) => !/^\/workspace(\/|$)/.test(path));
  if (elsewhere.length > 0) edits.push('it holds projects other than this one');
  if (json['primaryApiKey'] !== undefined || json['oauthAccount'] !== undefined) edits.push('it holds a login');
  return edits;
}

async function readJson(collection: Collection): Promise<JsonObject | undefined> {
  const content = await readWhole(collection, '.claude.json', 16 << 20);
  return parseObject(content.toString('utf8'));
}
