import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { readConfigFile } from '../../../src/core/config/config-file.ts';
import { readPage } from '../../support/markdown.ts';
import { SETTING_EXAMPLES, settings } from './settings-page.ts';

it.each(SETTING_EXAMPLES)('the example of settings.md is valid in a file: %s', (line) => {
  expect(readConfigFile(line, 'config.toml').values.size).toBe(1);
});

it('settings.md gives no default in milliseconds or megabytes', () => {
  expect(settings()).not.toMatch(/\d{5,}(?![0-9a-f])/);
  expect(settings()).toContain('| 12h |');
  expect(settings()).toContain('| 8g |');
});

it('settings.md names every key of the tables', () => {
  const page =
    readPage('docs/reference/settings.md') +
    readPage('docs/reference/services.md') +
    readPage('docs/how-to/other-agents.md');
  const folder = new URL('../../../src/core/config/', import.meta.url);
  const sources = ['config-file.ts', 'engine-table.ts', 'tables/agent.ts', 'tables/kubernetes.ts', 'tables/slurm.ts'];
  const keys = [...sources, 'tables/environment.ts', 'tables/service.ts'].flatMap((file) => {
    const text = readFileSync(new URL(file, folder), 'utf8');
    return [
      ...text.matchAll(
        /^ +'?([a-z][a-z-]+)'?: (?:z$|z\.|texts|text\b|size|duration|directory|name\b|words|below|severity)/gm,
      ),
    ];
  });
  expect(keys.length).toBeGreaterThan(40);
  expect(keys.map(([, key = '']) => key).filter((key) => !new RegExp(`\\b${key}\\b`).test(page))).toEqual([]);
});
