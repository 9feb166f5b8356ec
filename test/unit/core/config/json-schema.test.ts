import { expect, it } from 'vitest';
import { configSchema } from '../../../../src/core/config/json-schema.ts';
import { SETTINGS } from '../../../../src/core/config/settings.ts';

const schema = configSchema((name) => `means ${name}`) as {
  readonly additionalProperties: boolean;
  readonly properties: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
};

it('has every setting of a file with its meaning and form, every table, and nothing else', () => {
  const names = SETTINGS.filter(({ file }) => file !== false).map(({ name }) => name);
  const tables = ['agents', 'allow', 'audit', 'broker', 'environment', 'kubernetes', 'mcp', 'plugin', 'project'];
  expect(Object.keys(schema.properties)).toEqual(expect.arrayContaining([...names, ...tables, 'service', 'test']));
  expect(schema.additionalProperties).toBe(false);
  expect(schema.properties['network']).toEqual({ enum: ['none', 'gateway', 'open'], description: 'means network' });
  expect(schema.properties['memory']?.['type']).toBe('string');
  expect(schema.properties['auto-apply']).toBeUndefined();
  expect(schema.properties['engine']?.['anyOf']).toHaveLength(2);
  expect(JSON.stringify(schema.properties['mcp'])).toContain('"required":["name"]');
});
