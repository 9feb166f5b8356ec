import { isDeepStrictEqual } from 'node:util';
import { parse, stringify, type TomlTable } from 'smol-toml';
import { usageError } from '../errors.ts';
import { readConfigFile } from './config-file.ts';
import { explainUnknownSetting } from './explain-schema.ts';
import { type Form, type Setting, settingNamed } from './settings.ts';

/**
 * The text of a configuration file with this value of a setting, or without the setting where `words` is undefined. Every
 * other line stays as it is: only a text is accepted that means the same but for the setting.
 *
 * @param words the value as typed: one word, or those of a list
 * @param where names the file in messages
 * @throws {RunClaudeError} USAGE for an unknown setting, a value that is not allowed, and a file that cannot be read
 */
export function withSetting(text: string, name: string, words: readonly string[] | undefined, where: string): string {
  const setting = settingNamed.get(name);
  if (setting === undefined || setting.file === false) throw explainUnknownSetting(name);
  readConfigFile(text, where);
  const before = parse(text);
  const { [name]: _, ...rest } = before;
  if (words === undefined) return name in before ? replaced(text, name, undefined, rest, where) : text;
  const value = tomlValue(setting, words);
  const row = stringify({ [name]: value }).trimEnd();
  const after = { ...rest, [name]: value };
  readConfigFile(`${row}\n`, `config set ${name}`);
  return name in before ? replaced(text, name, row, after, where) : inserted(text, row, after, where);
}

type TomlValue = TomlTable[string];

function tomlValue({ name, form }: Setting, words: readonly string[]): TomlValue {
  const [first = ''] = words;
  if (isList(form, first)) return [...words];
  if (words.length !== 1) throw usageError(`config set ${name}: ${words.length} values`, 'This setting has one value.');
  if (form.kind.startsWith('switch') && /^(true|false)$/.test(first)) return first === 'true';
  const isNumber = ['count', 'amount', 'cpus'].includes(form.kind) && /^\d+(\.\d+)?$/.test(first);
  return isNumber ? Number(first) : first;
}

function isList({ kind }: Form, first: string): boolean {
  return kind === 'list' || kind === 'variables' || (kind === 'switch-or-list' && !/^(true|false)$/.test(first));
}

/** The lines of the setting are those without which the file means the rest: a list can have several. */
function replaced(text: string, name: string, row: string | undefined, wanted: TomlTable, where: string): string {
  const lines = text.split('\n');
  const start = new RegExp(`^\\s*(["']?)${name}\\1\\s*=`);
  for (let from = 0; from < lines.length; from++) {
    if (!start.test(lines[from] ?? '')) continue;
    for (let to = from + 1; to <= lines.length; to++) {
      const comment = row === undefined || to > from + 1 ? '' : (/\s+#[^"'\]]*$/.exec(lines[from] ?? '')?.[0] ?? '');
      const put = row === undefined ? [] : [`${row}${comment}`];
      const found = [...lines.slice(0, from), ...put, ...lines.slice(to)].join('\n');
      if (means(found, wanted)) return found;
    }
  }
  throw notWritable(name, where);
}

/** Above the first table, and above the comment on it: a key below would be the table's. */
function inserted(text: string, row: string, wanted: TomlTable, where: string): string {
  const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n');
  for (const [at, line] of [...lines.entries(), [lines.length, '['] as const]) {
    if (!/^\s*\[/.test(line)) continue;
    let above = at;
    if (at < lines.length) while (/^\s*#/.test(lines[above - 1] ?? '')) above -= 1;
    while (lines[above - 1]?.trim() === '') above -= 1;
    const gap = above < lines.length && lines[above]?.trim() !== '' ? [''] : [];
    const found = [...lines.slice(0, above), row, ...gap, ...lines.slice(above), ''].join('\n');
    if (means(found, wanted)) return found;
  }
  throw notWritable(row, where);
}

function means(text: string, wanted: TomlTable): boolean {
  try {
    return isDeepStrictEqual({ ...parse(text) }, { ...wanted });
  } catch {
    return false;
  }
}

const notWritable = (what: string, where: string): Error =>
  usageError(`${where}: ${what.split(' ')[0]} cannot be changed there`, 'Change it in an editor.');
