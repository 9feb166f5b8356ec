import { type Node, type ParseError, parseTree } from 'jsonc-parser';
import { parse as parseToml, stringify as tomlOf } from 'smol-toml';
import { countJson, countToml, MAX_LEAVES, MAX_NESTING, MAX_STRUCTURED_CHARS, OverBudget } from './budget.ts';
import { lazy } from './lazy.ts';
import { type Line, newLines, splitLines } from './lines.ts';
import { jsonOfJson5 } from './parsers/json5.ts';
import { usualXml } from './parsers/xml.ts';
import { readYaml } from './parsers/yaml.ts';
import { type Format, formatOf } from './structured.ts';
import { anyOf } from './words.ts';

/** Lines (trimmed) as the tools that write a format spell them: whatever reads lines can read these. */
const USUAL: Readonly<Partial<Record<Exclude<Format, 'auto'>, RegExp>>> = {
  json: /^$|^(?:"(?:[^"\\]|\\(?:["\\nrtbf]|u00[01]))*"(?:: (?:"(?:[^"\\]|\\(?:["\\nrtbf]|u00[01]))*"|[\w.+-]+|[[{]|\[\]|\{\}))?|[\]}{[])\s*,?$/,
  yaml: /^$|^#|^(?:- +)*(?:[\w$./@-]+:(?: +(?![&!*|>?]|"[^"]*\\[^n"\\])\S.*)?|(?![[{}\]"'?:%!&*|>])\S[^:]*)$|^---$/,
  toml: /^$|^#|^\[{1,2}[\w."-]+\]{1,2}$|^[\w-]+ = (?!['{]|"""|"[^"]*\\u)\S|^[\]},]|^"[^"\\]*",?$/,
  xml: /^(?:<[\w:.-]+(?: [\w:.-]+="[^"&]*")*(?:\/?>|>[^<&]*<\/[\w:.-]+>)|<\/[\w:.-]+>|[^<>&]*)$/,
};

const PNPM_KEY = /(?:'(?=[^']*[^A-Za-z_'])[^'\\]*'|(?!<<|- )(?:[\w@./()+^~<>=| \u4e00-\u9fff-]|:(?! |$))+)/.source;
const PNPM_VALUE =
  /'[^'\\]*'|[\w.^~=<(/-](?:[^'"[\]{}#&!`\\:]|:(?! ))*|\[\]|\{\}|\{[\w@./-]+: [^{}\\]*\}|\[[^[\]{}\\]*\]/.source;

/** Lines (trimmed) as one tool spells its file in its own way, always the same: no parser is needed to read it. */
const OWN_SPELLINGS: readonly { readonly path: RegExp; readonly line: RegExp }[] = [
  {
    path: /(^|\/)pnpm-lock\.yaml$/,
    line: anyOf(
      /^$|^---$|^deprecated: [^&*!].*$/,
      // A key, and no value, a plain or quoted one, or one table or list without others in it.
      new RegExp(`^${PNPM_KEY}:(?: (?:${PNPM_VALUE}))?$`),
      /^- (?:'[^'\\]*'|[\w@./-](?:[^'"[\]{}#&*!|`\\:])*)$/,
    ),
  },
];
/** Programs begin as JSON may, and are none. */
const NOT_JSON = /\.([cm]?[jt]sx?|c|cc|cpp|h|hpp|java|kts?|go|rs|swift|scala|groovy|s?css|less|php|dart|cs)$/;

/** A change of structured text as its tools read it, in the usual spelling of its format. */
export interface UsualSpelling {
  readonly before: string | undefined;
  readonly after: string;
  readonly added: () => readonly Line[];
  readonly deleted: () => readonly Line[];
}

interface SpelledText {
  readonly before: string | undefined;
  readonly after: string | undefined;
}

type Spelling = UsualSpelling | 'too much to judge' | undefined;

/** The last change: several rules ask for it. */
let last: { readonly path: string; readonly of: SpelledText; readonly spelling: Spelling } | undefined;

/**
 * A change of structured text with one key in a line, without escapes, anchors, tags, references or quotes that are not
 * needed. Undefined where the text is spelled so already, is not structured or does not parse. Never throws.
 */
export function usualSpellingOf(path: string, of: SpelledText): Spelling {
  const lower = path.toLowerCase();
  if (last?.path === lower && last.of.after === of.after && last.of.before === of.before) return last.spelling;
  const spelling = of.after === undefined ? undefined : spell(lower, of.before, of.after);
  last = { path: lower, of, spelling };
  return spelling;
}

function spell(path: string, textBefore: string | undefined, textAfter: string): Spelling {
  const format = spelledFormat(path, textAfter);
  const usual = format === undefined ? undefined : USUAL[format];
  if (format === undefined || usual === undefined) return undefined;
  const forms = [usual, ...OWN_SPELLINGS.filter((one) => one.path.test(path)).map(({ line }) => line)];
  const isUsual = (line: string): boolean => line.length < MAX_LINE && forms.some((form) => form.test(line.trim()));
  if (splitLines(textAfter).every(isUsual)) return undefined;
  const after = rewritten(textAfter, format, path);
  if (after === undefined || after === 'too much to judge') return after;
  const old = textBefore === undefined ? undefined : rewritten(textBefore, format, path);
  const before = old === undefined || old === 'too much to judge' ? textBefore : old;
  return { before, after, added: lazy(() => newLines(before, after)), deleted: lazy(() => newLines(after, before)) };
}

const MAX_LINE = 4000;
const MAX_LINES = 2 * MAX_LEAVES;

function spelledFormat(path: string, text: string): Exclude<Format, 'auto'> | undefined {
  const head = text.slice(0, 1000);
  if (/^\ufeff?\s*<[?!\w]/.test(head)) return /\.(html?|md|php|tt|vue|svelte|mdx?)$/i.test(path) ? undefined : 'xml';
  if (/\.(ya?ml|toml)$/i.test(path)) return formatOf(path, text);
  if (NOT_JSON.test(path)) return undefined;
  if (/\.json[c5]?$/i.test(path) || /^\ufeff?\s*(?:[{[]|\/[/*])/.test(head)) return 'json';
  return undefined;
}

function rewritten(text: string, format: Exclude<Format, 'auto'>, path: string): string | undefined {
  const bare = text.startsWith('\ufeff') ? text.slice(1) : text;
  if (bare.trim() === '') return text;
  if (bare.length > MAX_STRUCTURED_CHARS || splitLines(bare).length > MAX_LINES) return 'too much to judge';
  try {
    if (format === 'json') return usualJson(bare, path);
    if (format === 'toml') return usualToml(bare);
    return format === 'xml' ? usualXml(bare) : usualYaml(bare);
  } catch (error) {
    return error instanceof OverBudget ? 'too much to judge' : undefined;
  }
}

function usualToml(text: string): string {
  countToml(text);
  return tomlOf(parseToml(text, { maxDepth: MAX_NESTING }));
}

/** Lines, as many as the budget allows. */
function put(lines: string[], line: string): void {
  if (lines.length > MAX_LINES) throw new OverBudget();
  lines.push(line);
}

function usualJson(text: string, path: string): string | undefined {
  const errors: ParseError[] = [];
  const json = /\.json5$/i.test(path) ? jsonOfJson5(text) : text;
  if (json === undefined) return undefined;
  countJson(json);
  const root = parseTree(json, errors, { allowTrailingComma: true });
  if (root === undefined || errors.length > 0) return undefined;
  const lines: string[] = [];
  writeJson(root, '', '', '', lines);
  return `${lines.join('\n')}\n`;
}

function writeJson(node: Node, indent: string, before: string, after: string, lines: string[]): void {
  const children = node.children ?? [];
  if (node.type !== 'object' && node.type !== 'array') {
    put(lines, indent + before + JSON.stringify(node.value) + after);
    return;
  }
  const [open, close] = node.type === 'object' ? ['{', '}'] : ['[', ']'];
  if (children.length === 0) {
    put(lines, indent + before + open + close + after);
    return;
  }
  put(lines, indent + before + open);
  for (const [at, child] of children.entries()) {
    const comma = at + 1 < children.length ? ',' : '';
    const [key, value] = node.type === 'object' ? (child.children ?? []) : [undefined, child];
    if (value === undefined) continue;
    const name = key === undefined ? '' : `${JSON.stringify(key.value)}: `;
    writeJson(value, `${indent}  `, name, comma, lines);
  }
  put(lines, indent + close + after);
}

function usualYaml(text: string): string | undefined {
  const documents = readYaml(text);
  if (documents === undefined) return undefined;
  return documents.values
    .map((value) => {
      const lines: string[] = [];
      writeYaml(value, '', '', lines);
      return `${lines.join('\n')}\n`;
    })
    .join('---\n');
}

/** `lead` is what precedes the value in its line: a key, dashes, or nothing at the top. */
function writeYaml(value: unknown, indent: string, lead: string, lines: string[]): void {
  if (Array.isArray(value) && value.length > 0) {
    if (lead.endsWith(':')) put(lines, indent + lead);
    for (const item of value) writeYaml(item, `${indent}${lead.endsWith(':') ? '  ' : ''}`, '-', lines);
  } else if (value instanceof Map && value.size > 0) {
    if (lead.endsWith(':')) put(lines, indent + lead);
    const inner = lead === '' ? indent : `${indent}  `;
    let isFirst = lead === '-';
    for (const [name, item] of value) {
      const key = `${scalar(name)}:`;
      if (isFirst && (typeof item !== 'object' || item === null)) writeYaml(item, indent, `- ${key}`, lines);
      else {
        if (isFirst) put(lines, `${indent}-`);
        writeYaml(item, inner, key, lines);
      }
      isFirst = false;
    }
  } else if (
    typeof value === 'string' &&
    value.trimEnd().includes('\n') &&
    /^\S/.test(value) &&
    !/[^\n\t\x20-\x7e\u00a1-\ud7ff]/.test(value)
  ) {
    const mark = value.endsWith('\n\n') ? '|+' : value.endsWith('\n') ? '|' : '|-';
    put(lines, `${indent}${lead} ${mark}`.trimStart() === mark ? mark : `${indent}${lead} ${mark}`);
    for (const line of value.replace(/\n$/, '').split('\n')) put(lines, `${indent}    ${line}`);
  } else {
    const text = Array.isArray(value)
      ? '[]'
      : value instanceof Map
        ? '{}'
        : scalar(typeof value === 'string' ? value.trim() : value);
    put(lines, lead === '' ? indent + text : `${indent}${lead} ${text}`);
  }
}

function scalar(value: unknown): string {
  const text = value instanceof Date ? value.toISOString() : String(value);
  if (/^[A-Za-z0-9_./@$-][\w ./@:+=$()~^,;<>-]*$/.test(text) && !/: |:$| $|^-( |$|--)|^\.\.\.$/.test(text)) return text;
  return text.includes("'") || /[^\x20-\x7e\u00a1-\ud7ff]/.test(text) ? JSON.stringify(text) : `'${text}'`;
}
