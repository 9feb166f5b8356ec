import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { asBoolean, includesOf, parseConfig } from '../../../../src/core/git/config-parse.ts';
import { writeConfig } from '../../../../src/core/git/config-write.ts';
import { decodeBytes, encodeBytes } from '../../../../src/core/text/path.ts';

const dir = mkdtempSync(join(tmpdir(), 'rc-gitconfig-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const blanks = (text: string): string => text.replace(/[\t\r ]/g, ' ');

/** The real git's reading of each text, in one shell: undefined where it refuses the file. */
function byGit(texts: readonly string[]): (string[] | undefined)[] {
  for (const [index, text] of texts.entries()) writeFileSync(join(dir, `c${index}`), encodeBytes(text));
  const loop = `i=0; while [ $i -lt ${texts.length} ]; do git config -f c$i --list -z >o$i 2>/dev/null || : >f$i; i=$((i+1)); done`;
  execFileSync('sh', ['-c', `rm -f f*; ${loop}`], { cwd: dir });
  return texts.map((_, index) => {
    if (existsSync(join(dir, `f${index}`))) return undefined;
    const out = decodeBytes(readFileSync(join(dir, `o${index}`)));
    return out.split('\0').slice(0, -1).map(blanks);
  });
}

function byUs(text: string): string[] | undefined {
  const { entries, error } = parseConfig(text);
  if (error !== undefined) return undefined;
  return entries.map((entry) => blanks(entry.value === undefined ? entry.key : `${entry.key}\n${entry.value}`));
}

describe('parseConfig', () => {
  const samples: Record<string, string> = {
    'a key on the header line': '[core] fsmonitor=x',
    'upper case and a continued value': '[CORE]FsMonitor = "touch x;\\\n:" # x\n',
    'a byte order mark': '\ufeff[core]\n\tpager = less\n',
    'half a byte order mark': 'ï»[core]\n',
    'CRLF and no final newline': '[core]\r\n\teditor = vi\r\n\tbare',
    'a lone CR in a value': '[core]\n\teditor = a\rb\n',
    'the old form of a subsection': '[Branch.Main]\n\tremote = o\n',
    'an empty subsection': '[core ""]\n\tfsmonitor = x\n',
    'escapes in a subsection': '[remote "a\\"b\\\\c\\d"]\n\turl = x\n',
    'comment signs inside quotes': '[a]\n\tb = "x ; y # z" ; c\n',
    'all escapes': '[a]\n\tb = \\t\\b\\n\\\\\\"\n',
    'an unknown escape': '[a]\n\tb = \\x\n',
    'a quote without an end': '[a]\n\tb = "x\n',
    'a key before any section': 'foo = 1\n',
    'an empty header': '[]\nfoo = 1\n',
    'a header cut off': '[core',
    'quotes in the middle and blanks at the ends': '[a]\n\tb =   x"  y  "  z  \n',
    'a value of quotes only': '[a]\n\tb = ""\n\tc =\n\td\n',
    'a continuation at the end of the file': '[a]\n\tb = x\\',
    'a continuation inside quotes': '[a]\n\tb = "x\\\n y"\n',
    'a comment that ends in a backslash': '[a]\n# x \\\nb = 1\n',
    'bytes that are no text': decodeBytes(Buffer.from([0x5b, 0x61, 0x5d, 0x62, 0x3d, 0xff, 0xfe, 0x0a])),
    'a digit first': '[a]\n1b = x\n',
    'several on one line': '[a] b = 1 \n[c] d',
    'text after a header': '[a]]\n',
    'a dot at the end of a section': '[a.]\nb = 1\n',
  };
  it('agrees with git on each sample', () => {
    const texts = Object.values(samples);
    const wanted = byGit(texts);
    for (const [index, name] of Object.keys(samples).entries())
      expect([name, byUs(texts[index] as string)]).toEqual([name, wanted[index]]);
  });

  it('agrees with git on any mix of its syntax', () => {
    const piece = fc.constantFrom(
      '[',
      ']',
      '[core]',
      '[a "B"]',
      '[A.b]',
      '"',
      '\\',
      '\\\n',
      '\n',
      '\r\n',
      '\r',
      ' ',
      '\t',
      '=',
      '#',
      ';',
      '.',
      '-',
      'x',
      'Y',
      '1',
      'key',
      'é',
      '\\t',
      '\\n',
      '\\"',
      '\\\\',
      '\u000b',
      '\u000c',
      ' = ',
      'fsmonitor',
      '\n[b]\n',
      '\ufeff',
    );
    const texts = fc.sample(fc.array(piece, { maxLength: 24 }), 150).map((pieces) => pieces.join(''));
    const wanted = byGit(texts);
    for (const [index, text] of texts.entries()) expect([text, byUs(text)]).toEqual([text, wanted[index]]);
  });

  it('never throws, and takes linear time', () => {
    const junk = fc.sample(fc.uint8Array({ maxLength: 200 }), 200).map((bytes) => decodeBytes(bytes));
    for (const text of junk) expect(() => parseConfig(text)).not.toThrow();
    const started = performance.now();
    for (const text of ['\\\n ', '" "', 'x=1\n', '  ']) parseConfig(`[a]\nb = ${text.repeat(10_000)}`);
    expect(performance.now() - started).toBeLessThan(30_000);
  });

  it('refuses a NUL, where git would cut the value', () => {
    expect(parseConfig('[a]\nb = x\0y\n').error).toBeDefined();
  });

  it('lists includes with and without a condition', () => {
    const { entries } = parseConfig('[include]\npath = a\n[includeIf "onbranch:x"]\npath = b\n[includeIf]\npath = c\n');
    expect(includesOf(entries)).toEqual([
      { path: 'a', condition: undefined, line: 2 },
      { path: 'b', condition: 'onbranch:x', line: 4 },
    ]);
  });
});

describe('writeConfig', () => {
  const word = fc.stringMatching(/^[a-z][a-z0-9-]{0,8}$/);
  const any = fc.string({
    unit: fc.constantFrom('a', 'Z', ' ', '\t', '"', '\\', ';', '#', '\r', 'é', '=', ']', '$', '\b'),
  });
  const entry = fc.record({
    section: word,
    subsection: fc.option(any, { nil: undefined }),
    name: word,
    value: fc.option(fc.oneof(any, fc.constant('a\nb')), { nil: undefined }),
  });
  it('writes text that git and parseConfig read back as the same entries', () => {
    const lists = fc.sample(fc.array(entry, { minLength: 1, maxLength: 6 }), 60);
    const texts = lists.map((entries) => writeConfig(entries));
    const read = byGit(texts);
    for (const [index, entries] of lists.entries()) {
      const wanted = entries.map((one) => {
        const key = one.subsection === undefined ? one.section : `${one.section}.${one.subsection}`;
        return blanks(one.value === undefined ? `${key}.${one.name}` : `${key}.${one.name}\n${one.value}`);
      });
      expect([texts[index], byUs(texts[index] as string)]).toEqual([texts[index], wanted]);
      expect([texts[index], read[index]]).toEqual([texts[index], wanted]);
    }
  });
});

describe('asBoolean', () => {
  it('agrees with git', () => {
    const words = ['true', 'Yes', 'ON', '1', '-1', '0', 'false', 'off', 'no', '', 'maybe', '1x', ' '];
    const loop = 'for w; do git -c "a.b=$w" config --type=bool a.b 2>/dev/null || echo none; done';
    const out = execFileSync('sh', ['-c', loop, 'sh', ...words], { encoding: 'utf8' })
      .trim()
      .split('\n');
    expect(words.map((word) => String(asBoolean(word) ?? 'none'))).toEqual(out);
    expect(execFileSync('git', ['-c', 'a.b', 'config', '--type=bool', 'a.b'], { encoding: 'utf8' }).trim()).toBe(
      'true',
    );
    expect(asBoolean(undefined)).toBe(true);
  });
});
