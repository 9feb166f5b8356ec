import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseCommandLine } from '../../../src/cli/grammar/parse-command-line.ts';
import { readConfigFile } from '../../../src/config/config-file.ts';
import { DEFAULTS } from '../../../src/config/settings.ts';
import { tighten } from '../../../src/config/tighten.ts';
import { codeBlocks, readPage } from '../../support/markdown.ts';

const example = (name: string): string => readFileSync(new URL(`../../../examples/${name}`, import.meta.url), 'utf8');

describe('examples/policies', () => {
  it.each(['strict.toml', 'npm-project.toml', 'monorepo.run-claude.toml'])('%s is a valid file', (name) => {
    const file = readConfigFile(example(`policies/${name}`), name);
    expect(file.values.size).toBeGreaterThan(4);
  });

  it('the project file only tightens, so none of its settings is ignored', () => {
    const file = readConfigFile(example('policies/monorepo.run-claude.toml'), 'file');
    expect(tighten(DEFAULTS, file, 'file')).toMatchObject({ refused: [], auditRules: [{ id: 'deploy-scripts' }] });
  });

  it('the tables of docs/reference/settings.md and the private registry page are valid files', () => {
    for (const page of ['docs/reference/settings.md', 'docs/how-to/private-registry.md']) {
      const tables = codeBlocks(readPage(page)).filter(({ language }) => language === 'toml');
      expect(tables.length).toBeGreaterThan(0);
      for (const { text } of tables) readConfigFile(text, page);
    }
  });
});

describe('examples/ci', () => {
  const page = codeBlocks(readPage('docs/how-to/use-in-ci.md')).filter(({ language }) => language === 'yaml');

  it.each([
    ['github-audit.yml', 0],
    ['github-claude.yml', 1],
  ])('%s is the file that docs/how-to/use-in-ci.md shows', (name, at) => {
    const text = example(`ci/${name}`);
    expect(text.slice(text.indexOf('\n') + 1)).toBe(page[at]?.text);
  });

  it.each(['github-audit.yml', 'github-claude.yml', 'gitlab-ci.yml'])(
    '%s has only valid run-claude command lines',
    (name) => {
      const text = example(`ci/${name}`);
      expect(parse(text)).toBeTypeOf('object');
      const lines = [...text.matchAll(/\S+\/dist\/main\.js (.*)$/gm)].map(([, words = '']) => words);
      expect(lines.length).toBeGreaterThan(0);
      for (const line of lines) {
        const words = line.split(' ').map((word) => word.replaceAll('"', ''));
        expect(() => parseCommandLine(words, (word) => ['project', 'change', '.'].includes(word))).not.toThrow();
      }
    },
  );
});
