import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseCommandLine } from '../../../src/cli/grammar/parse-command-line.ts';
import { readConfigFile } from '../../../src/core/config/config-file.ts';
import { DEFAULTS } from '../../../src/core/config/settings.ts';
import { tighten } from '../../../src/core/config/tighten.ts';
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
    for (const page of ['docs/reference/settings.md', 'docs/how-to/allow-hosts.md']) {
      const tables = codeBlocks(readPage(page)).filter(({ language }) => language === 'toml');
      expect(tables.length).toBeGreaterThan(0);
      for (const { text } of tables) readConfigFile(text, page);
    }
  });
});

describe('examples/ci', () => {
  it.each([
    ['github-audit.yml', 'docs/how-to/use-in-ci.md'],
    ['github-claude.yml', 'docs/how-to/claude-in-ci.md'],
  ])('%s is the file that %s shows', (name, page) => {
    const text = example(`ci/${name}`);
    const shown = codeBlocks(readPage(page)).find(({ language }) => language === 'yaml');
    expect(text.slice(text.indexOf('\n') + 1)).toBe(shown?.text);
    expect(text.split('\n', 1)[0]).toContain(page);
  });

  it('gitlab-ci.yml has only valid run-claude command lines', () => {
    const text = example('ci/gitlab-ci.yml');
    expect(parse(text)).toBeTypeOf('object');
    const lines = [...text.matchAll(/\S+\/dist\/main\.js (.*?)(?:\)| \|\| .*)?$/gm)].map(([, words = '']) => words);
    expect(lines).toHaveLength(6);
    for (const line of lines) {
      const words = line.split(' ').map((word) => word.replaceAll('"', ''));
      expect(() => parseCommandLine(words, (word) => word === '.')).not.toThrow();
    }
  });

  it.each(['github-audit.yml', 'github-claude.yml'])('%s gives the action only inputs that it has', (name) => {
    const file = parse(example(`ci/${name}`)) as { jobs: Record<string, { steps: Step[] }> };
    const steps = Object.values(file.jobs).flatMap((job) => job.steps);
    const own = steps.filter(({ uses }) => uses?.startsWith('OWNER/run-claude@'));
    expect(own.length).toBeGreaterThan(0);
    for (const step of own) {
      expect(Object.keys(action.inputs)).toEqual(expect.arrayContaining(Object.keys(step.with ?? {})));
      expect(['audit', 'run', 'propose']).toContain(step.with?.['mode']);
    }
    for (const { uses } of steps) expect(uses).toMatch(/@([0-9a-f]{40}|FULL_COMMIT_ID)$/);
  });
});

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, string>>;
}
const read = (name: string): string => readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8');
const action = parse(read('action.yml')) as {
  readonly inputs: Readonly<Record<string, { readonly description?: string }>>;
  readonly runs: { readonly steps: readonly Step[] };
};

describe('action.yml', () => {
  it('has no expression in a script: inputs are variables', () => {
    const runs = action.runs.steps.flatMap(({ run }) => run ?? []);
    expect(runs).toHaveLength(4);
    for (const run of runs) {
      expect(run).toMatch(/^bash "\$GITHUB_ACTION_PATH\/scripts\/action\/[a-z]+\.sh"$/);
      const script = read(/scripts\/action\/[a-z]+\.sh/.exec(run)?.[0] ?? '');
      expect(script).not.toMatch(/\$\{\{|\beval\b/);
    }
  });

  it('pins every other action by its commit, with the release next to it', () => {
    const lines = read('action.yml').match(/uses: .*/g) ?? [];
    expect(lines).toHaveLength(3);
    for (const line of lines) expect(line).toMatch(/^uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  it('describes every input', () => {
    for (const { description } of Object.values(action.inputs)) expect(description).toMatch(/\w/);
  });
});
