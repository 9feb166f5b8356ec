/** One assignment of a git configuration file, in the order of the file. */
export interface ConfigEntry {
  /** Lower case. '' for an assignment before the first header. */
  readonly section: string;
  /** As written: subsections are case-sensitive. */
  readonly subsection: string | undefined;
  /** Lower case. */
  readonly name: string;
  /** section.subsection.name, as `git config --list` prints it. */
  readonly key: string;
  /** undefined: a key without '=', which git takes for true. */
  readonly value: string | undefined;
  /** From 1. */
  readonly line: number;
}

export interface ParsedConfig {
  /** The entries that git reads: on an error, those above it. */
  readonly entries: readonly ConfigEntry[];
  /** The first line that git refuses. */
  readonly error: { readonly line: number; readonly why: string } | undefined;
}

/** An include line: git reads that file as configuration while the condition holds. */
export interface ConfigInclude {
  readonly path: string;
  /** Of `includeIf.<condition>.path`; undefined: always. */
  readonly condition: string | undefined;
  readonly line: number;
}

const END = '\n';

/** Reads characters as git's get_next_char does: CRLF is LF, the end of the file is one more LF. */
class Reader {
  private at = 0;
  line = 1;
  ended = false;
  private readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  next(): string {
    let char = this.text[this.at++];
    if (char === '\r' && this.text[this.at] === '\n') char = this.text[this.at++];
    if (char === undefined) this.ended = true;
    if (char === undefined || char === '\n') {
      this.line += 1;
      return END;
    }
    return char;
  }
}

class ConfigSyntaxError extends Error {}

/** git's isspace: no vertical tab, no form feed. */
const isSpace = (char: string): boolean => char === ' ' || char === '\t' || char === '\n' || char === '\r';
const isAlpha = (char: string): boolean => /^[A-Za-z]$/.test(char);
const isKeyChar = (char: string): boolean => /^[A-Za-z0-9-]$/.test(char);

/**
 * Parses git's configuration format (git-config(1), "Syntax", and config.c of git 2.39) without following includes.
 * Takes text decoded by decodeBytes; never throws. White space inside an unquoted value is kept as written, as git
 * does from 2.45 on (older ones turn each into a blank). A NUL byte is refused: git cuts the value there.
 */
export function parseConfig(text: string): ParsedConfig {
  const entries: ConfigEntry[] = [];
  const reader = new Reader(text.startsWith('\ufeff') ? text.slice(1) : text);
  let stem = '';
  let comment = false;
  try {
    if (text.includes('\0')) throw new ConfigSyntaxError('a NUL byte');
    for (;;) {
      const char = reader.next();
      if (char === END) {
        if (reader.ended) return { entries, error: undefined };
        comment = false;
      } else if (comment || isSpace(char)) {
        // git skips it.
      } else if (char === '#' || char === ';') {
        comment = true;
      } else if (char === '[') {
        stem = `${readHeader(reader)}.`;
      } else if (isAlpha(char)) {
        const line = reader.line;
        const { name, value } = readAssignment(reader, char.toLowerCase());
        entries.push(configEntry(stem + name, value, line));
      } else {
        throw new ConfigSyntaxError('a line that is not a section, key or comment');
      }
    }
  } catch (error) {
    if (!(error instanceof ConfigSyntaxError)) throw error;
    return { entries, error: { line: reader.line, why: error.message } };
  }
}

/** Splits a full key as git does: the section ends at the first dot, the name begins after the last. */
export function splitKey(key: string): { section: string; subsection: string | undefined; name: string } {
  const first = key.indexOf('.');
  const last = key.lastIndexOf('.');
  if (first < 0) return { section: '', subsection: undefined, name: key };
  return {
    section: key.slice(0, first),
    subsection: first === last ? undefined : key.slice(first + 1, last),
    name: key.slice(last + 1),
  };
}

function configEntry(key: string, value: string | undefined, line: number): ConfigEntry {
  return { ...splitKey(key), key, value, line };
}

function readHeader(reader: Reader): string {
  let name = '';
  for (;;) {
    const char = reader.next();
    if (reader.ended) throw new ConfigSyntaxError('a section header without an end');
    if (char === ']') {
      if (name === '') throw new ConfigSyntaxError('an empty section header');
      return name;
    }
    if (isSpace(char)) return `${name}.${readSubsection(reader, char)}`;
    if (!isKeyChar(char) && char !== '.') throw new ConfigSyntaxError('an odd character in a section header');
    name += char.toLowerCase();
  }
}

function readSubsection(reader: Reader, before: string): string {
  let char = before;
  while (isSpace(char)) {
    if (char === END) throw new ConfigSyntaxError('a section header without an end');
    char = reader.next();
  }
  if (char !== '"') throw new ConfigSyntaxError('a subsection without quotes');
  let name = '';
  for (;;) {
    char = reader.next();
    if (char === '"') break;
    if (char === '\\') char = reader.next();
    if (char === END) throw new ConfigSyntaxError('a section header without an end');
    name += char;
  }
  if (reader.next() !== ']') throw new ConfigSyntaxError('text after a subsection');
  return name;
}

function readAssignment(reader: Reader, first: string): { name: string; value: string | undefined } {
  let name = first;
  let char = reader.next();
  while (isKeyChar(char)) {
    name += char.toLowerCase();
    char = reader.next();
  }
  while (char === ' ' || char === '\t') char = reader.next();
  if (char === END) return { name, value: undefined };
  if (char !== '=') throw new ConfigSyntaxError('a key without =');
  return { name, value: readValue(reader) };
}

const ESCAPES: Readonly<Record<string, string>> = { t: '\t', b: '\b', n: '\n', '\\': '\\', '"': '"' };

function readValue(reader: Reader): string {
  let value = '';
  let blanks = '';
  let quoted = false;
  let comment = false;
  for (;;) {
    const char = reader.next();
    if (char === END) {
      if (quoted) throw new ConfigSyntaxError('a quote without an end');
      return value;
    }
    if (comment) continue;
    if (isSpace(char) && !quoted) {
      if (value !== '') blanks += char;
      continue;
    }
    if (!quoted && (char === ';' || char === '#')) {
      comment = true;
      continue;
    }
    value += blanks;
    blanks = '';
    if (char === '"') {
      quoted = !quoted;
    } else if (char !== '\\') {
      value += char;
    } else {
      const escaped = reader.next();
      if (escaped === END) continue;
      const meant = ESCAPES[escaped];
      if (meant === undefined) throw new ConfigSyntaxError('an unknown escape');
      value += meant;
    }
  }
}

/** The files that git includes from a configuration, whether or not their condition holds. */
export function includesOf(entries: readonly ConfigEntry[]): ConfigInclude[] {
  return entries.flatMap((entry): ConfigInclude[] => {
    if (entry.name !== 'path' || entry.value === undefined) return [];
    if (entry.section === 'include' && entry.subsection === undefined)
      return [{ path: entry.value, condition: undefined, line: entry.line }];
    if (entry.section !== 'includeif' || entry.subsection === undefined) return [];
    return [{ path: entry.value, condition: entry.subsection, line: entry.line }];
  });
}

/** A value as git's boolean; undefined when it is not one. A key without '=' is true, an empty value is false. */
export function asBoolean(value: string | undefined): boolean | undefined {
  if (value === undefined) return true;
  const word = value.toLowerCase();
  if (word === 'true' || word === 'yes' || word === 'on') return true;
  if (word === '' || word === 'false' || word === 'no' || word === 'off') return false;
  if (/^[+-]?[0-9]{1,9}$/.test(word)) return Number(word) !== 0;
  return undefined;
}
