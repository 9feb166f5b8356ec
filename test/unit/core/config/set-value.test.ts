import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readConfigFile } from '../../../../src/core/config/config-file.ts';
import { withSetting } from '../../../../src/core/config/set-value.ts';

const set = (text: string, name: string, ...words: readonly string[]) => withSetting(text, name, words, 'config.toml');
const unset = (text: string, name: string) => withSetting(text, name, undefined, 'config.toml');

it('changes one line, and keeps the comment on it', () => {
  expect(set('', 'memory', '4g')).toBe('memory = "4g"\n');
  expect(set('# mine\nmemory = "4g" # of 16\ncpus = 2\n', 'memory', '12g')).toBe(
    '# mine\nmemory = "12g" # of 16\ncpus = 2\n',
  );
  expect(unset('# mine\nmemory = "4g"\ncpus = 2\n', 'memory')).toBe('# mine\ncpus = 2\n');
  expect(unset('cpus = 2\n', 'memory')).toBe('cpus = 2\n');
});

it('writes each form as a file has it', () => {
  expect(set('', 'pids', '512')).toBe('pids = 512\n');
  expect(set('', 'cpus', 'all')).toBe('cpus = "all"\n');
  expect(set('', 'sync-back', 'false')).toBe('sync-back = false\n');
  expect(set('', 'include-ignored', 'dist/', 'out/')).toBe('include-ignored = [ "dist/", "out/" ]\n');
  expect(set('', 'include-ignored', 'true')).toBe('include-ignored = true\n');
  expect(set('', 'allow-host', 'a.example')).toBe('allow-host = [ "a.example" ]\n');
});

it('stays above the first table and the comment on it, and takes a list of several lines as one', () => {
  const table = '# files\n[[mcp]]\nname = "a"\nurl = "https://a.test"\n';
  expect(set(table, 'memory', '4g')).toBe(`memory = "4g"\n\n${table}`);
  expect(set(`cpus = 2\n\n${table}`, 'memory', '4g')).toBe(`cpus = 2\nmemory = "4g"\n\n${table}`);
  const list = 'exclude = [\n  "a", # one\n  "]",\n]\n';
  expect(set(`${list}cpus = 2\n`, 'exclude', 'b')).toBe('exclude = [ "b" ]\ncpus = 2\n');
  const hidden = 'image = """\nmemory = "1g"\n[x]\n"""\nmemory = "2g"\n';
  expect(set(hidden, 'memory', '4g')).toBe('image = """\nmemory = "1g"\n[x]\n"""\nmemory = "4g"\n');
});

it.each([
  ['memroy', ['4g'], "unknown setting 'memroy'"],
  ['copy', ['4g'], "unknown setting 'copy'"],
  ['auto-apply', ['true'], "unknown setting 'auto-apply'"],
  ['memory', ['much'], "config set memory: memory: 'much' is not allowed"],
  ['memory', ['4g', '8g'], 'config set memory: 2 values'],
  ['pids', ['3'], 'is not allowed'],
])('refuses %s = %j', (name, words, message) => {
  expect(() => set('', name, ...words)).toThrow(message);
});

it('refuses a file that is not read, and leaves it', () => {
  expect(() => set('memory = ', 'cpus', '2')).toThrow('config.toml, line 1');
});

it('changes nothing but the setting, in any file', () => {
  const line = fc.constantFrom(
    '',
    '# memory = "9g"',
    'cpus = 2',
    'memory = "4g"',
    '"pids" = 64',
    'exclude = ["a",\n"memory = 1",\n]',
    "image = '''\nmemory = 'x'\n'''",
  );
  const tables = fc.constantFrom('', '[plugin]\ntools = ["t"]\n', '# c\n[[mcp]]\nname = "a"\nurl = "https://a.test"\n');
  fc.assert(
    fc.property(fc.uniqueArray(line), tables, fc.constantFrom('memory', 'tmp-size'), (lines, rest, name) => {
      const text = `${lines.join('\n')}\n${rest}`;
      const before = readConfigFile(text, 'f');
      const after = readConfigFile(set(text, name, '7g'), 'f');
      expect(after).toEqual({ ...before, values: new Map([...after.values]) });
      expect(new Map([...before.values, [name, 7168]])).toEqual(after.values);
      const removed = readConfigFile(unset(set(text, name, '7g'), name), 'f');
      expect(removed.values.has(name)).toBe(false);
      expect(removed.values.size).toBe(after.values.size - 1);
    }),
  );
});
