import { join } from 'node:path';
import { asObject, parseObject } from '../../../core/text/json-in.ts';
import { readOwnFile } from '../instances/instance.ts';
import { stageTree } from './stage-trees.ts';
import type { Staging } from './staged.ts';

/** Records in ~/.claude/plugins that a session needs. Clones of marketplaces and tokens stay out. */
const RECORDS = ['installed_plugins.json', 'installed_plugins_v2.json', 'flagged-plugins.json'];

/** Stages installed plugins with their records; paths of the host become paths inside. */
export async function stagePlugins(staging: Staging, configDir: string, inside: string): Promise<void> {
  const from = join(configDir, 'plugins');
  const outside = `${from}/`;
  for (const name of RECORDS) {
    const content = await readOwnFile(join(from, name), 4 << 20);
    const record = content === undefined ? undefined : parseObject(content.toString('utf8'));
    if (record === undefined) continue;
    const moved = mapStrings(record, (text) =>
      text.startsWith(outside) ? `/home/agent/${inside}/${text.slice(outside.length)}` : text,
    );
    staging.file(`${inside}/${name}`, JSON.stringify(moved));
  }
  await stageTree(staging, { from: join(from, 'cache'), to: `${inside}/cache`, shown: '~/.claude/plugins/cache' });
}

function mapStrings(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value);
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, map));
  const object = asObject(value);
  if (object === undefined) return value;
  return Object.fromEntries(Object.entries(object).map(([key, item]) => [key, mapStrings(item, map)]));
}
