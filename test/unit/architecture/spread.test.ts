import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync, Visitor } from 'rolldown/utils';
import { expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '../../..');

/** What may be spread into the arguments of a call, since no session makes it long: by file, the beginning of each. */
const BOUNDED: Readonly<Record<string, readonly string[]>> = {
  'src/review/apply/disk/journal/journal.ts': ['...numbersIn(folder)'],
  'src/audit/formats/words.ts': ['...values', '...lists', '...parts'],
  'src/audit/general-rules/run-looks.ts': ['...given'],
  'src/workspace/base/refresh/copy-file.ts': ['...times'],
  'src/workspace/base/generations/generation.ts': ['...numbers(dir)', '...whole'],
  'src/workspace/base/generations/sweep.ts': ['...times'],
  'src/agents/claude/command-line/options.ts': ['...option.names'],
  'src/agents/claude/command-line/permissions.ts': ['...words.slice(at + 1, at + 2)'],
  'src/agents/claude/stage/settings-filter.ts': ['...others.map('],
  'src/cli/commands/review/audit.ts': ['...rules.map(({ id }) => id.length)'],
  'src/cli/grammar/help.ts': ['...options.map(optionLine)'],
  'src/core/config/merge-policy.ts': ['...unknownVariables(sources.environment)', '...kept.refused'],
  'src/core/config/settings.ts': ['...STRATEGY_NAMES'],
  'src/engines/engine/connection/ssh-login.ts': ['...at'],
  'src/engines/engine/docker.ts': ['...request'],
  'src/core/host/files/path-limit.ts': ['...dirs.map('],
  'src/workspace/layer/volumes/volume-base.ts': ['...used'],
  'src/session/record/formats/policy-format.ts': ['...STRATEGY_NAMES', '...CACHE_NAMES'],
  'src/session/record/formats/session-format.ts': ['...STRATEGY_NAMES', '...AGENT_NAMES', '...CACHE_NAMES'],
  // At most 99 are kept.
  'src/terminal/attach/filter-state.ts': ['...keyboard(', '...alternates().map(', '...pushed.alternate'],
};

it('no call gets as arguments what a session can lengthen: V8 throws at some 120,000', () => {
  const sources = (readdirSync(path.join(root, 'src'), { recursive: true }) as string[])
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `src/${file}`);
  const found = sources.flatMap((file) => spreadsIn(file, readFileSync(path.join(root, file), 'utf8')));
  const isBounded = ({ file, text }: Spread): boolean =>
    BOUNDED[file]?.some((start) => text.startsWith(start)) === true;
  expect(found.filter((one) => !isBounded(one))).toEqual([]);
  const left = Object.entries(BOUNDED).flatMap(([file, texts]) =>
    texts.filter((start) => !found.some(({ file: where, text }) => where === file && text.startsWith(start))),
  );
  expect(left).toEqual([]);
});

it.each([
  ['a.push(...b)', 1],
  ['Math.max(0, ...b.map((one) => one.length))', 1],
  ['new Map(...b)', 1],
  ['a.push([...b], { ...c })', 0],
])('%s: %i', (text, count) => {
  expect(spreadsIn('planted.ts', text)).toHaveLength(count);
});

interface Spread {
  readonly file: string;
  readonly text: string;
}

function spreadsIn(file: string, text: string): Spread[] {
  const found: Spread[] = [];
  const take = ({ arguments: words }: { readonly arguments: readonly object[] }): void => {
    for (const word of words as readonly { type: string; start: number; end: number }[])
      if (word.type === 'SpreadElement') found.push({ file, text: text.slice(word.start, word.end) });
  };
  new Visitor({ CallExpression: take, NewExpression: take }).visit(parseSync(file, text).program);
  return found;
}
