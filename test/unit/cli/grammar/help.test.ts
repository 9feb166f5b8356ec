import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CommandOption } from '../../../../src/cli/grammar/command-shape.ts';
import { COMMANDS, COMMON_OPTIONS, commandNamed, WHOLE_HELP } from '../../../../src/cli/grammar/commands.ts';
import {
  COMMAND_GROUPS,
  EXAMPLE_OF_COMMAND,
  FIRST_EXAMPLES,
  FIRST_OPTIONS,
} from '../../../../src/cli/grammar/first-screen.ts';
import { helpText } from '../../../../src/cli/grammar/help.ts';
import { RUN_OPTIONS } from '../../../../src/cli/grammar/options.ts';
import { parseCommandLine } from '../../../../src/cli/grammar/parse-command-line.ts';
import { readValue } from '../../../../src/core/config/read-value.ts';
import { settingNamed } from '../../../../src/core/config/settings.ts';

const MAX_COLUMNS = 80;
const ROOT = path.resolve(import.meta.dirname, '../../../..');

/** The options that a help text lists, each with its description. A description may start on the next line. */
function printedOptions(help: string): ReadonlyMap<string, string> {
  const printed = new Map<string, string>();
  let last: string | undefined;
  for (const line of help.split('\n')) {
    const [, name, , description] =
      /^ {2}(?:--[a-z]+, )?--([a-z-]+)(\S*(?: [A-Z]\S*)?)(?: {2,}(\S.*)?)?$/.exec(line) ?? [];
    const continued = /^ {10,}(\S.*)$/.exec(line)?.[1];
    if (name !== undefined) printed.set(name, description ?? '');
    else if (continued !== undefined && last !== undefined) {
      printed.set(last, `${printed.get(last) ?? ''} ${continued}`.trim());
    }
    last = name ?? (continued === undefined ? undefined : last);
  }
  return printed;
}

interface Page {
  readonly title: string;
  readonly help: string;
  readonly options: readonly CommandOption[];
}

const REFUSED: Readonly<Record<string, readonly string[]>> = {
  exec: ['shell'],
  up: ['shell', 'bind', 'report', 'background'],
  mcp: ['shell', 'bind', 'report', 'background'],
  batch: ['shell', 'bind', 'report', 'background', 'check', 'dry-run', 'without-layer', 'version'],
};

const PAGES: readonly Page[] = [
  { title: 'run-claude, all of it', help: helpText(WHOLE_HELP), options: RUN_OPTIONS },
  ...COMMANDS.map(({ name, options }) => ({
    title: `run-claude ${name}`,
    help: helpText(name),
    // These start a session, with its options except those that they refuse.
    options: [
      ...options,
      ...(name in REFUSED ? RUN_OPTIONS.filter((option) => !REFUSED[name]?.includes(option.name)) : COMMON_OPTIONS),
    ],
  })),
];

describe.each(PAGES)('the help of $title', ({ help, options }) => {
  const printed = printedOptions(help);

  it('lists every option of the grammar, and no other', () => {
    expect([...printed.keys()].sort()).toEqual(options.map(({ name }) => name).sort());
  });

  it('describes every option', () => {
    for (const [name, description] of printed) expect(description, `--${name}`).toMatch(/\w{2,}/);
  });

  it(`is at most ${MAX_COLUMNS} columns wide`, () => {
    expect(help.split('\n').filter((line) => line.length > MAX_COLUMNS)).toEqual([]);
  });
});

it('lists every command with a description', () => {
  const help = helpText(WHOLE_HELP);
  const commands = help.slice(help.indexOf('\nCommands '));
  for (const { name } of COMMANDS) {
    expect(commands, name).toMatch(new RegExp(`^  ${name}( \\S+)*( {2,}|\\n {10,})\\w{2,}`, 'm'));
  }
});

describe('the first screen', () => {
  const screen = helpText(undefined);
  /** The words of a command line, as a shell splits them. */
  const wordsOf = (line: string): string[] =>
    [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '').slice(1);
  const kindOf = (line: string) => parseCommandLine(wordsOf(line), () => true);

  it('fits in a terminal of 24 lines and 80 columns, with its prompt', () => {
    const lines = screen.trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(23);
    expect(lines.filter((line) => line.length > MAX_COLUMNS)).toEqual([]);
  });

  it('names every command once, and eight options of the grammar', () => {
    expect(Object.values(COMMAND_GROUPS).flat().sort()).toEqual([...commandNamed.keys()].sort());
    expect([...printedOptions(screen).keys()]).toEqual(FIRST_OPTIONS);
    expect(FIRST_OPTIONS).toHaveLength(8);
    expect(FIRST_OPTIONS).toEqual(expect.arrayContaining(['copy-workspace', 'auto-apply', 'bind']));
  });

  it('has three examples, and the help of a command starts with one: the grammar takes each', () => {
    expect(FIRST_EXAMPLES).toHaveLength(3);
    for (const [line] of FIRST_EXAMPLES) expect(kindOf(line), line).toMatchObject({ kind: 'run' });
    for (const [name, example] of Object.entries(EXAMPLE_OF_COMMAND)) {
      expect(helpText(name)).toMatch(`Example: ${example}\n`);
      expect(wordsOf(example)[0]).toBe(name);
      expect(() => kindOf(example), example).not.toThrow();
    }
  });
});

describe('the documents', () => {
  /** Every block with its language: the end of one of another language is not the beginning of a shell block. */
  const BLOCK = /^[ \t]*```(\w*)[^\n]*\n([\s\S]*?)^[ \t]*```[ \t]*$/gm;
  const SHELLS: readonly string[] = ['', 'sh', 'bash', 'shell', 'console'];

  /** Every option of a `run-claude` command in a shell block of the README and of docs/. */
  function exampleOptions(): ReadonlySet<string> {
    const pages = readdirSync(path.join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => path.join(ROOT, 'docs', name));
    const found = new Set<string>();
    for (const page of [path.join(ROOT, 'README.md'), ...pages]) {
      for (const [, language = '', block = ''] of readFileSync(page, 'utf8').matchAll(BLOCK)) {
        if (!SHELLS.includes(language)) continue;
        const lines = block.replaceAll(/\\\n/g, ' ').split('\n');
        for (const line of lines.filter((text) => /\brun-claude\b/.test(text))) {
          for (const [, name = ''] of line.matchAll(/(?:^|\s)--([a-z][a-z-]*)/g)) found.add(name);
        }
      }
    }
    return found;
  }

  it('have an example of every option', () => {
    const examples = exampleOptions();
    const names = new Set(PAGES.flatMap(({ options }) => options.map(({ name }) => name)));
    expect([...names].filter((name) => !examples.has(name)).sort()).toEqual([]);
  });
});

describe('the examples of the options of a session', () => {
  const valued = RUN_OPTIONS.filter(({ value }) => value !== 'none');

  it.each(valued.map(({ name, example }) => [name, example]))('--%s has a value as example', (_name, example) => {
    expect(example).toMatch(/^(?:[\w./:=-]+|'[\w./* ]+')$/);
  });

  it.each(
    valued.flatMap(({ setting, example = '' }) => {
      const known = settingNamed.get(setting ?? '');
      return known === undefined ? [] : ([[known.name, known, example.replaceAll("'", '')]] as const);
    }),
  )('the setting %s accepts the example', (_name, setting, example) => {
    const raw = setting.form.kind.includes('list') || setting.form.kind === 'variables' ? [example] : example;
    expect(() => readValue(setting, raw, 'the example')).not.toThrow();
  });
});
