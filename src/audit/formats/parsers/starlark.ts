import { MAX_LEAVES, MAX_NESTING, OverBudget } from '../budget.ts';
import type { Leaf } from '../leaf.ts';

const TOKEN =
  /[ \t\r\n\\]+|#.*|(?:[rR]?)(?:"""([\s\S]*?)"""|'''([\s\S]*?)'''|"((?:[^"\\\n]|\\[\s\S])*)"|'((?:[^'\\\n]|\\[\s\S])*)')|[A-Za-z_]\w*|\d\w*|[()[\]{},=:.+*%|<>!-]/y;
type Token = {
  readonly text: string;
  /** As the file has it, with quotes. */
  readonly source: string;
  /** What stands between it and the token before it: blanks, and ends of lines without their comments. */
  readonly gap: string;
  readonly isString: boolean;
  readonly isEscaped: boolean;
};
/** Calls of which only the arguments count: whose they are changes nothing. Other ones say which target has an argument. */
const ALIKE =
  /^(?!sh_)\w*_(library|test|binary)$|^(test_suite|config_setting|module|bazel_dep)$|\.(download|toolchain)$/;
/** Arguments that run nothing, whichever target has them. */
const SHARED = /\.(name|tags|visibility|testonly|target_compatible_with)(\.select)?(\[\])*$/;

/**
 * The calls of a Bazel package or module, a leaf for each argument: `rule.name` with its text, `rule.deps[]` with an item of
 * a list, `load[]` with a file, and with each name from it. Where a rule may run something, the text has the name of the
 * target before it. A variable that is a call is the leaf `variable`, then its call. Everything else, such as an expression
 * or a function, is a leaf of the key `code`; from the first statement that is not a call, the rest of the file is one such
 * leaf. Undefined for what is not Starlark.
 *
 * @throws {OverBudget}
 */
export function leavesOfStarlark(text: string): Leaf[] | undefined {
  const tokens = tokensOf(text);
  if (tokens === undefined) return undefined;
  const out: Leaf[] = [];
  const add = (key: string, value: string): void => {
    if (out.length > MAX_LEAVES) throw new OverBudget();
    out.push({ key, value });
  };
  let at = 0;
  while (at < tokens.length) {
    if (is(tokens[at + 1], '=') && endOfCall(tokens, at + 2) !== undefined) {
      add('variable', `${tokens[at]?.text} = ${nameOfCall(tokens, at + 2).join('.')}`);
      at += 2;
    }
    const end = endOfCall(tokens, at);
    if (end === undefined) {
      // The rest of the file is code: it may give any name another meaning, so its order counts.
      add('code', sourceOf(tokens.slice(at)));
      return out;
    }
    const name = nameOfCall(tokens, at);
    const call = name.join('.');
    const parts = splitAt(tokens.slice(at + 2 * name.length, end), ',');
    const owner = ownerOf(call, parts);
    for (const [place, argument] of parts.entries())
      addArgument(call, argument, (key, value) =>
        add(key, owner === '' || (call === 'load' && place === 0) || SHARED.test(key) ? value : `${owner}: ${value}`),
      );
    at = end + 1;
  }
  return out;
}

/** The code of tokens on the lines and at the indents that they have, but for what is in brackets. */
function sourceOf(tokens: readonly Token[]): string {
  let depth = 0;
  return tokens
    .map(({ source, gap, isString }, place) => {
      const between = depth > 0 || !gap.includes('\n') ? ' ' : `\n${gap.slice(gap.lastIndexOf('\n') + 1)}`;
      if (!isString && /^[([{]$/.test(source)) depth += 1;
      if (!isString && /^[)\]}]$/.test(source)) depth -= 1;
      return place === 0 ? source : between + source;
    })
    .join('');
}

/** Whose the arguments of a call are: the target's name, or the file that is loaded. Empty where it does not count. */
function ownerOf(call: string, parts: readonly (readonly Token[])[]): string {
  if (ALIKE.test(call)) return '';
  if (call === 'load') return sourceOf(parts[0] ?? []);
  const name = parts.find((part) => is(part[0], 'name') && is(part[1], '='));
  return name === undefined
    ? ''
    : name
        .slice(2)
        .map(({ text }) => text)
        .join(' ');
}

function tokensOf(text: string): Token[] | undefined {
  const out: Token[] = [];
  let gap = '';
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const match = TOKEN.exec(text);
    if (match === null) return undefined;
    const [whole, ...quoted] = match;
    const string = quoted.find((one) => one !== undefined);
    if (string === undefined && /^[ \t\r\n\\#]/.test(whole)) {
      if (!whole.startsWith('#')) gap += whole;
      continue;
    }
    const isString = string !== undefined;
    out.push({ text: string ?? whole, source: whole, gap, isString, isEscaped: isString && string.includes('\\') });
    gap = '';
    if (out.length > 4 * MAX_LEAVES) throw new OverBudget();
  }
  return out;
}

const is = (token: Token | undefined, text: string): boolean => token?.isString === false && token.text === text;

/** The names of a call such as `a.b(…)` that begins here. */
function nameOfCall(tokens: readonly Token[], at: number): string[] {
  const names = [tokens[at]?.text ?? ''];
  for (let next = at + 1; is(tokens[next], '.'); next += 2) names.push(tokens[next + 1]?.text ?? '');
  return names;
}

/** Where the call that begins here ends; undefined if what begins here is not a call. */
function endOfCall(tokens: readonly Token[], at: number): number | undefined {
  const first = tokens[at];
  if (first === undefined || first.isString || !/^[A-Za-z_]/.test(first.text)) return undefined;
  const open = at + 2 * nameOfCall(tokens, at).length - 1;
  if (!is(tokens[open], '(')) return undefined;
  let depth = 0;
  for (let next = open; next < tokens.length; next += 1) {
    const token = tokens[next] as Token;
    if (token.isString) continue;
    if (/^[([{]$/.test(token.text)) depth += 1;
    if (/^[)\]}]$/.test(token.text)) depth -= 1;
    if (depth > MAX_NESTING) throw new OverBudget();
    if (depth === 0) {
      // An operator, an index or a call on what the call gives.
      const after = tokens[next + 1];
      return after === undefined || /^[A-Za-z_]/.test(after.text) ? next : undefined;
    }
  }
  return undefined;
}

/** Parts between a mark at the top level of brackets. */
function splitAt(tokens: readonly Token[], mark: string): Token[][] {
  const out: Token[][] = [[]];
  let depth = 0;
  for (const token of tokens) {
    if (!token.isString && /^[([{]$/.test(token.text)) depth += 1;
    if (!token.isString && /^[)\]}]$/.test(token.text)) depth -= 1;
    if (depth === 0 && is(token, mark)) out.push([]);
    else out.at(-1)?.push(token);
  }
  return out.filter((part) => part.length > 0);
}

function addArgument(call: string, argument: readonly Token[], add: (key: string, value: string) => void): void {
  const isNamed = argument[0]?.isString === false && is(argument[1], '=') && !is(argument[2], '=');
  const key = isNamed ? `${call}.${argument[0]?.text}` : call;
  addValue(isNamed ? key : `${call}[]`, isNamed ? argument.slice(2) : argument, add);
}

function addValue(key: string, value: readonly Token[], add: (key: string, value: string) => void): void {
  const [first, last] = [value[0], value.at(-1)];
  if (value.length === 1 && first !== undefined) {
    const isPlain = first.isString ? !first.isEscaped : /^(True|False|None|\d+)$/.test(first.text);
    add(isPlain ? key : 'code', isPlain ? first.text : `${key} = ${first.source}`);
  } else if (is(first, '[') && is(last, ']') && !value.some((token) => is(token, 'for'))) {
    if (value.length === 2) add(key, '[]');
    for (const item of splitAt(value.slice(1, -1), ',')) addValue(`${key}[]`, item, add);
  } else if (splitAt(value, '+').length > 1) {
    for (const part of splitAt(value, '+')) addValue(key, part, add);
  } else if (is(first, 'select') && is(value[1], '(') && is(value[2], '{') && is(value.at(-2), '}') && is(last, ')')) {
    for (const entry of splitAt(value.slice(3, -2), ',')) {
      const [condition = [], ...result] = splitAt(entry, ':');
      addValue(`${key}.select`, condition, add);
      addValue(key, result.flat(), add);
    }
  } else if (is(first, 'glob') && is(value[1], '(') && is(last, ')')) {
    for (const argument of splitAt(value.slice(2, -1), ','))
      addValue(key, is(argument[1], '=') ? argument.slice(2) : argument, add);
  } else add('code', `${key} = ${sourceOf(value)}`);
}
