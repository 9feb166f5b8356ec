import { describe, expect, it } from 'vitest';
import { RUN_OPTIONS } from '../../../../src/cli/grammar/options.ts';
import { parseCommandLine } from '../../../../src/cli/grammar/parse-command-line.ts';
import { refuseContradictions } from '../../../../src/cli/policy/refuse-contradictions.ts';
import { readConfigFile } from '../../../../src/core/config/config-file.ts';
import { mergePolicy } from '../../../../src/core/config/merge-policy.ts';
import { RunClaudeError } from '../../../../src/core/errors.ts';

/** Words that a shell would hand over: examples are quoted for one. */
const unquoted = (word: string): string => word.replaceAll("'", '');
const OPTIONS: readonly (readonly string[])[] = RUN_OPTIONS.flatMap(({ name, value, example = '' }) => [
  ...(value === 'needed' ? [[`--${name}=${unquoted(example)}`]] : [[`--${name}`]]),
  ...(value === 'optional' ? [[`--${name}=${unquoted(example)}`]] : []),
]);
/** Values with which an option contradicts others. */
const MORE: readonly (readonly string[])[] = [
  ['--network=none'],
  ['--credentials=file'],
  ['--fail-on=note'],
  ['-p', 'x'],
];
interface Beginning {
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly config: string;
}
const BEGINNINGS: readonly Beginning[] = [
  ...['', 'mode = "bind"', 'network = "none"'].map((config) => ({ before: [], after: [], config })),
  { before: ['exec'], after: ['--', 'ls'], config: '' },
  { before: ['up'], after: [], config: '' },
];

interface Start extends Beginning {
  readonly options: readonly string[];
}

const SETTINGS = new Map(BEGINNINGS.map(({ config }) => [config, readConfigFile(config, 'config.toml')]));

function refusal({ before, options, after, config }: Start): RunClaudeError | undefined {
  try {
    const line = parseCommandLine([...before, ...options, ...after], () => false);
    if (line.kind !== 'run') return undefined;
    const policy = mergePolicy({
      config: { where: 'config.toml', settings: SETTINGS.get(config) ?? readConfigFile(config, 'config.toml') },
      projectFile: undefined,
      projectIgnore: [],
      environment: { CI: 'true' },
      flags: line.flags,
    });
    refuseContradictions(policy, line);
    return undefined;
  } catch (error) {
    if (error instanceof RunClaudeError) return error;
    throw error;
  }
}

const nameOf = (word: string): string => word.split('=', 1)[0] ?? word;

/** The command lines that an advice leads to: without an option that it names, with one that it adds. */
function advised(start: Start, { message, hint = '' }: RunClaudeError): readonly Start[] {
  const without = (name: string): Start => ({
    ...start,
    options: start.options.filter((word) => nameOf(word) !== name),
  });
  const typed = start.options.map(nameOf);
  const one = /[Ll]eave one of them out/.test(hint) ? typed.filter((name) => message.includes(name)) : [];
  const left = [...hint.matchAll(/[Ll]eave out (--[\w-]+)/g)].map(([, name = '']) => name);
  const itself = /[Ll]eave it out/.test(hint) ? typed.filter((name) => message.includes(name)) : [];
  const added = [...hint.matchAll(/(?:[Aa]dd |and |: )(--[\w-]+(?:[= ][\w-]+)?)/g)].map(([, words = '']) => words);
  const base = { ...start, options: start.options.filter((word) => !left.includes(nameOf(word))) };
  const extra = added.filter((words) => !left.includes(words)).map((words) => words.replace(' ', '='));
  return [
    ...(left.length > 0 || extra.length > 0 ? [{ ...base, options: [...base.options, ...extra] }] : []),
    ...one.map(without),
    ...itself.map(without),
  ];
}

/** A pair may contradict a third word or the start: each advice is followed, and none leads back. */
function followed(start: Start, error: RunClaudeError, before: readonly string[]): string | undefined {
  const text = `${error.message} ${error.hint}`;
  if (before.includes(error.message)) return `again: ${text}`;
  const next = advised(start, error);
  if (next.length === 0) return `no advice: ${text}`;
  for (const line of next) {
    const then = refusal(line);
    if (then === undefined || !isContradiction(then)) continue;
    const fault = followed(line, then, [...before, error.message]);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

const PAIRS = [...OPTIONS, ...MORE].flatMap((one, at, all) => all.slice(at).map((other) => [...one, ...other]));

describe('the advice of a refusal', () => {
  it('is accepted: the same contradiction is not reported again', () => {
    const wrong: string[] = [];
    let refused = 0;
    for (const beginning of BEGINNINGS)
      for (const options of PAIRS) {
        const start = { ...beginning, options };
        const error = refusal(start);
        if (error === undefined || !isContradiction(error)) continue;
        refused += 1;
        const fault = followed(start, error, []);
        if (fault !== undefined)
          wrong.push(`${beginning.config} | ${[...beginning.before, ...options].join(' ')}: ${fault}`);
      }
    expect([...new Set(wrong)]).toEqual([]);
    expect(refused).toBeGreaterThan(100);
  });
});

/** About words that are each right alone. */
function isContradiction({ message }: RunClaudeError): boolean {
  return /exclude each other|needs copy mode|works on a copy|: not with |is for --dry-run|cannot reach its provider/.test(
    message,
  );
}
