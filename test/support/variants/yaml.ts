import { parseAllDocuments, stringify } from 'yaml';
import { eachLine, type Mutator } from './mutator.ts';

const isYaml = (path: string): boolean => /\.ya?ml$|(^|\/)(\.clang-format|\.clang-tidy|\.clangd)$/.test(path);

/** The documents' values; undefined for what is not plain YAML, where another spelling may mean something else. */
function valuesOf(text: string, path: string): unknown[] | undefined {
  if (!isYaml(path) || /![\w!<]|\{%|\{\{/.test(text)) return undefined;
  const documents = parseAllDocuments(text, { logLevel: 'error' });
  if (!Array.isArray(documents) || documents.some(({ errors, contents }) => errors.length > 0 || contents === null))
    return undefined;
  const values = documents.map((one) => one.toJS() as unknown);
  return values.every((value) => typeof value === 'object' && value !== null) ? values : undefined;
}

const of = (name: string, write: (value: unknown) => string): Mutator => ({
  name: `yaml ${name}`,
  text: (text, path) => valuesOf(text, path)?.map(write).join('---\n'),
});

/** Lines outside block scalars: a mutator of lines must not change their text. */
const withoutBlocks = (name: string, rewrite: (line: string) => string): Mutator => ({
  name: `yaml ${name}`,
  text: (text, path) =>
    valuesOf(text, path) === undefined || /[|>][-+\d]*\s*$/m.test(text) ? undefined : eachLine(text, rewrite),
});

const KEY = /^(\s*(?:- +)*)([\w.$-]+):(?=\s|$)/;

/** Files that their tools read under one ending only. */
const ONE_ENDING =
  /(^|\/)(pnpm-workspace|pnpm-lock|aqua-policy|buf\.gen|conda-lock|spack|recipe\/meta|peru|jitpack|Chart|render|kitchen|hiera|stack|workspace|packages|dagster|wercker|screwdriver|codemagic|bitrise|bitbucket-pipelines|appveyor|devspace|match\/base)\.ya?ml$/;

export const YAML_MUTATORS: readonly Mutator[] = [
  of('as JSON', (value) => `${JSON.stringify(value)}\n`),
  of('in flow style', (value) => `${JSON.stringify(value, null, 1).replace(/"([A-Za-z][\w-]*)":/g, '$1:')}\n`),
  of('with quoted keys', (value) =>
    stringify(value, { defaultKeyType: 'QUOTE_DOUBLE', defaultStringType: 'QUOTE_SINGLE' }),
  ),
  of('in block scalars', (value) => stringify(value, { defaultStringType: 'BLOCK_LITERAL', defaultKeyType: 'PLAIN' })),
  of('indented by six', (value) => stringify(value, { indent: 6, indentSeq: false })),
  of('with a directive', (value) => `%YAML 1.2\n---\n# settings\n${stringify(value)}`),
  withoutBlocks('with blanks before colons', (line) => line.replace(KEY, '$1$2 :')),
  withoutBlocks('with quoted and escaped keys', (line) =>
    line.replace(
      KEY,
      (_, lead: string, key: string) =>
        `${lead}"\\x${key.charCodeAt(0).toString(16).padStart(2, '0')}${key.slice(1)}":`,
    ),
  ),
  withoutBlocks('with explicit keys', (line) => line.replace(/^([\w.$-]+):(?=\s|$)/, '? $1\n:')),
  withoutBlocks('with comments', (line) => (/^\s*(#|$)/.test(line) ? line : `${line} # x`)),
  withoutBlocks('with tags', (line) => line.replace(/^(\s*(?:- +)*[\w.$-]+:) +(?=[A-Za-z])/, '$1 !!str ')),
  withoutBlocks('with anchors', (line) => {
    let at = 0;
    return line.replace(/^(\s*(?:- +)*[\w.$-]+:)(?= +\S|$)/, (found) => `${found} &a${++at}`);
  }),
  {
    name: 'yaml with the other ending',
    path: (path) =>
      ONE_ENDING.test(path)
        ? undefined
        : /\.yml$/i.test(path)
          ? path.replace(/\.yml$/i, '.yaml')
          : /\.yaml$/i.test(path)
            ? path.replace(/\.yaml$/i, '.yml')
            : undefined,
  },
];
