import { Composer, Lexer, LineCounter, Parser } from 'yaml';
import { MAX_ALIAS_STEPS, MAX_DOCUMENTS, MAX_LEXEMES, MAX_NESTING, OverBudget } from '../budget.ts';
import { repeatedKeys } from './yaml-keys.ts';

/** The documents of a YAML file: their values, keys that one map has twice, and the tags that no schema knows. */
export interface YamlDocuments {
  readonly values: readonly unknown[];
  readonly repeated: readonly string[];
  readonly tags: readonly string[];
}

type Token = Parser['stack'][number];

/** The last texts that were read: of one change the rules ask for the leaves, and for its usual spelling. */
const MAX_KEPT = 2;
const kept = new Map<string, () => YamlDocuments | undefined>();

/**
 * Reads YAML, each mapping as a Map. Undefined when it does not parse.
 *
 * @throws {OverBudget} before more than the budget was read; whatever the library throws.
 */
export function readYaml(text: string): YamlDocuments | undefined {
  const known = kept.get(text);
  if (known !== undefined) return known();
  const read = readOnce(text);
  if (kept.size >= MAX_KEPT) kept.delete(kept.keys().next().value as string);
  kept.set(text, read);
  return read();
}

/** What reading a text comes to, an error too: what is more than the budget is not read again for the next rule. */
function readOnce(text: string): () => YamlDocuments | undefined {
  try {
    const made = parseYaml(text);
    return () => made;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

function parseYaml(text: string): YamlDocuments | undefined {
  // A lone CR ends a line of YAML; this parser takes quadratic time for them.
  const lines = text.replace(/\r(?!\n)/g, '\n');
  const counter = new LineCounter();
  const composer = new Composer({ uniqueKeys: false, merge: true, logLevel: 'error' });
  const values: unknown[] = [];
  const repeated: string[] = [];
  const tags: string[] = [];
  for (const document of composer.compose(tokensOf(lines, counter))) {
    if (document.errors.length > 0) return undefined;
    for (const { code, message, pos } of document.warnings) {
      if (code !== 'TAG_RESOLVE_FAILED') continue;
      const { line, col } = counter.linePos(pos[0]);
      tags.push(`${message.split('\n')[0]?.slice(0, 120) ?? ''} at line ${line}, column ${col}`);
    }
    for (const key of repeatedKeys(document)) repeated.push(key);
    values.push(document.toJS({ mapAsMap: true, maxAliasCount: 200 }));
  }
  return { values, repeated, tags };
}

/**
 * The tokens of a text. Counts while it reads: the lexer and the parser call themselves at each level of nesting, and a
 * stack that they fill ends the process where V8 compiles a regular expression near its end.
 */
function tokensOf(text: string, counter: LineCounter): Token[] {
  const parser = new Parser(counter.addNewLine);
  const tokens: Token[] = [];
  let [lexemes, aliases, documents] = [0, 0, 0];
  counter.addNewLine(0);
  const add = (token: Token): void => {
    tokens.push(token);
    if (token.type === 'document') documents += 1;
  };
  for (const lexeme of new Lexer().lex(text)) {
    lexemes += 1;
    if (lexeme.startsWith('*')) aliases += 1;
    if (parser.stack.length > MAX_NESTING + 2 || documents > MAX_DOCUMENTS || lexemes > MAX_LEXEMES)
      throw new OverBudget();
    for (const token of parser.next(lexeme)) add(token);
  }
  for (const token of parser.end()) add(token);
  if (aliases * lexemes > MAX_ALIAS_STEPS) throw new OverBudget();
  return tokens;
}
