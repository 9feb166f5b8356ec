import { visit } from 'jsonc-parser';

/** A name and the place of its value in a text, without quotes. */
export interface Assignment {
  readonly name: string;
  readonly start: number;
  readonly end: number;
  /** The object that it is in says that it is a secret. */
  readonly isSecretByPlace?: boolean;
}

/** Names and values of a text in any of the forms that secret files have: JSON, XML, or lines. */
export function assignmentsIn(text: string): Assignment[] {
  const first = /[^\s\uFEFF]/.exec(text)?.[0];
  const found = first === '{' || first === '[' ? jsonAssignments(text) : undefined;
  if (found?.isWhole === true) return found.assignments;
  if (first === '<' && !PHP.test(text)) return xmlAssignments(text);
  // A section of a TOML file and a template begin as JSON does.
  return [...(found?.assignments ?? []), ...lineAssignments(text), ...inlineAssignments(text)];
}

const PHP = /^\s*<\?(?:php\b|=)/;

/** The first names that one text has and another has not. */
export function addedNames(before: string, after: string): string[] {
  const known = new Set(assignmentsIn(before).map(({ name }) => name));
  const added = assignmentsIn(after).flatMap(({ name }) => (NAME.test(name) && !known.has(name) ? [name] : []));
  return [...new Set(added)].slice(0, MAX_NAMES);
}

/** Any other text may be a value. */
const NAME = /^[\w.-]{1,64}$/;
const MAX_NAMES = 20;

interface JsonAssignments {
  readonly assignments: Assignment[];
  /** Whether all of the text is JSON. */
  readonly isWhole: boolean;
}

/** Undefined where the text is nested more deeply than a parser goes. */
function jsonAssignments(text: string): JsonAssignments | undefined {
  try {
    return assignmentsOfJson(text);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function assignmentsOfJson(text: string): JsonAssignments {
  const found: Assignment[] = [];
  let hasErrors = false;
  const isSecretObject = /"kind"\s*:\s*"Secret"/.test(text);
  let sibling: { readonly depth: number; readonly name: string } | undefined;
  visit(
    text,
    {
      onError: () => {
        hasErrors = true;
      },
      onLiteralValue: (value: unknown, offset, length, _line, _character, pathOf) => {
        const path = pathOf();
        const names = path.filter((part): part is string => typeof part === 'string');
        let name = names.at(-1) ?? '';
        if (typeof value === 'string' && /^(?:name|key)$/i.test(name)) sibling = { depth: path.length, name: value };
        if (/^(?:value|content|data)$/i.test(name))
          name = sibling?.depth === path.length ? sibling.name : (names.at(-2) ?? name);
        const isText = typeof value === 'string';
        if (value === null || typeof value === 'boolean') return;
        const start = offset + (isText ? 1 : 0);
        const isSecretByPlace = isSecretObject && /^(?:data|stringData)$/.test(names.at(-2) ?? '');
        found.push({
          name,
          start,
          end: offset + length - (isText ? 1 : 0),
          ...(isSecretByPlace ? { isSecretByPlace } : {}),
        });
      },
    },
    { allowTrailingComma: true },
  );
  return { assignments: found, isWhole: !hasErrors };
}

const ELEMENT = /<([\w.:-]+)(?:\s[^<>]*)?>([^<>]+)<\/\1\s*>/g;
const CDATA = /<([\w.:-]+)(?:\s[^<>]*)?>\s*<!\[CDATA\[([\s\S]*?)\]\]>/g;
const TAG = /<[\w.:-]+((?:\s+[\w.:-]+\s*=\s*(?:"[^"]*"|'[^']*'))+)\s*\/?>/g;
const ATTRIBUTE = /(?<![\w.:-])([\w.:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;
/** Of a property list, whose names are elements before the values. */
const PLIST = /<key>([^<]*)<\/key>\s*<(?:string|data|integer)>([^<]*)</g;

function xmlAssignments(text: string): Assignment[] {
  const found: Assignment[] = [];
  const push = (name: string, value: string, start: number): void => {
    const lead = value.length - value.trimStart().length;
    if (value.trim() !== '') found.push({ name, start: start + lead, end: start + lead + value.trim().length });
  };
  // Behind the last end nothing is found, and each beginning would be followed to the end of the text.
  const withEnds = text.slice(0, text.lastIndexOf(']]>') + 3);
  for (const expression of [ELEMENT, CDATA, PLIST])
    for (const match of (expression === CDATA ? withEnds : text).matchAll(expression)) {
      const [whole, name = '', value = ''] = match;
      if (expression === ELEMENT && name === 'key') continue;
      push(name, value, match.index + whole.lastIndexOf(value));
    }
  for (const tag of text.matchAll(TAG)) {
    const from = tag.index + tag[0].indexOf(tag[1] as string);
    const all = [...(tag[1] as string).matchAll(ATTRIBUTE)].map((one) => ({
      name: one[1] as string,
      value: one[2] ?? one[3] ?? '',
      start: from + one.index + one[0].length - 1 - (one[2] ?? one[3] ?? '').length,
    }));
    const key = all.find(({ name }) => /^(?:key|name)$/i.test(name));
    for (const one of all) {
      if (one === key) continue;
      push(/^value$/i.test(one.name) && key !== undefined ? key.value : one.name, one.value, one.start);
    }
  }
  return found;
}

/** `"name": "value"` and `name => 'value'` anywhere: maps that are written on one line, calls of PHP. */
const QUOTED = /(?<![\w.-])([\w.-]+)["']?\s{0,8}(?:[:=]|=>|,)\s{0,8}(?:"((?:[^"\\\n]|\\.)+)"|'([^'\n]+)')/g;
const FLOW = /[{,]\s{0,8}([\w.-]+)\s{0,8}:\s{1,8}([^\s,{}[\]"'][^,{}\n]*)/g;

function inlineAssignments(text: string): Assignment[] {
  const found: Assignment[] = [];
  for (const match of text.matchAll(QUOTED)) {
    const value = match[2] ?? match[3] ?? '';
    const end = match.index + match[0].length - 1;
    found.push({ name: match[1] as string, start: end - value.length, end });
  }
  for (const match of text.matchAll(FLOW)) {
    const value = (match[2] as string).trimEnd();
    const start = match.index + match[0].length - (match[2] as string).length;
    found.push({ name: match[1] as string, start, end: start + value.length });
  }
  return found;
}

const LINE =
  /^(\uFEFF?[ \t]*(?:[#;]+[ \t]*|\/\/[ \t]+|--[ \t]+)?(?:-[ \t]+){0,16}(?:(?:export|set|setx|declare -x|ENV|ARG|setenv)[ \t]+)?["']?)((?:[A-Za-z0-9_$@/.\-\\]|:(?=[^\s"'=]*=))[\w.$@/\-:\\ \]["']*?)((?:(?<![ \t])|(?=["']))["']?[ \t]*(?:=>|:=|\+=|=|:(?=[ \t]|$))[ \t]*)/;
const PLAIN_COLON = /^([ \t]*)([\w.-]+)(:)(?!\/\/|:)(?=\S)/;
const ITEM = /^([ \t]*(?:-[ \t]+)+)(?=\S)/;
const BLOCK = /^[|>][+-]?\d?[+-]?[ \t]*(?:#.*)?$/;

/** Lines `name=value` and `name: value`, with what is in quotes over several lines, blocks and lists below a name. */
function lineAssignments(text: string): Assignment[] {
  const found: Assignment[] = [];
  const isSecretObject = /^kind:[ \t]*["']?Secret\b/m.test(text);
  const parents: { readonly indent: number; readonly name: string }[] = [];
  let block: { readonly indent: number; readonly name: string } | undefined;
  let sibling: string | undefined;
  let until = 0;
  for (const line of text.matchAll(/[^\r\n]+/g)) {
    const from = line.index;
    if (from < until) continue;
    const content = line[0];
    const indent = content.length - content.trimStart().length;
    if (block !== undefined && indent > block.indent) {
      found.push({ name: block.name, start: from + indent, end: from + content.trimEnd().length });
      continue;
    }
    block = undefined;
    const match = LINE.exec(content) ?? PLAIN_COLON.exec(content);
    while (parents.length > 0 && (parents.at(-1)?.indent ?? 0) >= indent + (ITEM.test(content) ? 1 : 0)) parents.pop();
    const parent = parents.at(-1)?.name ?? '';
    if (match === null) {
      const item = ITEM.exec(content);
      if (item !== null && parent !== '')
        found.push(valueAt(text, parent, from + item[0].length, from + content.length));
      continue;
    }
    const own = (match[2] as string).trim();
    const start = from + match[0].length;
    const rest = content.slice(match[0].length);
    const name = /^value$/i.test(own) ? (sibling ?? (parent === '' ? own : parent)) : own;
    if (rest.trim() === '') parents.push({ indent, name: own });
    else if (BLOCK.test(rest)) block = { indent, name };
    else {
      const one = valueAt(text, name, start, from + content.length);
      if (/^(?:name|key)$/i.test(own)) sibling = text.slice(one.start, one.end);
      const isSecretByPlace = isSecretObject && /^(?:data|stringData)$/.test(parent);
      found.push(isSecretByPlace ? { ...one, isSecretByPlace } : one);
      if (one.end > from + content.length) until = one.end;
    }
  }
  return found;
}

/** The value from a place of a line: in quotes also over its end, otherwise without a comment. */
function valueAt(text: string, name: string, start: number, lineEnd: number): Assignment {
  const quote = text[start];
  if (quote === '"' || quote === "'" || quote === '`') {
    const triple = text.startsWith(quote.repeat(3), start) ? 3 : 1;
    const from = start + triple;
    const close = closingQuote(text, from, quote.repeat(triple));
    if (close !== -1) return { name, start: from, end: close };
  }
  const raw = text.slice(start, lineEnd);
  const comment = /[ \t]#/.exec(raw)?.index ?? raw.length;
  const value = raw.slice(0, comment).replace(/(?<![ \t,;])[ \t,;]+$/, '');
  return { name, start, end: start + value.length };
}

/** -1 where there is none within a reasonable value: a lone apostrophe opens nothing. */
function closingQuote(text: string, from: number, quote: string): number {
  const end = Math.min(text.length, from + MAX_QUOTED);
  for (let at = from; at < end; at += 1) {
    if (text[at] === '\\' && quote !== "'") at += 1;
    else if (text.startsWith(quote, at)) {
      // A quote that ends nothing on its line ends a later value, where the first one was never closed.
      const isOneLine = !text.slice(from, at).includes('\n');
      END_OF_LINE.lastIndex = at + quote.length;
      return isOneLine || END_OF_LINE.test(text) ? at : -1;
    }
  }
  return -1;
}

const MAX_QUOTED = 16_384;
const END_OF_LINE = /[ \t]*(?:[,;)\]}]+[ \t]*)?(?:#[^\n]*)?\r?(?:\n|$)/y;
