import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readConfigFile } from '../../../../src/core/config/config-file.ts';
import { withProjectMode } from '../../../../src/core/config/project-table.ts';

const write = (text: string, root: string, mode: 'copy' | 'bind' = 'copy'): string =>
  withProjectMode(text, root, mode, 'config.toml');

it('adds the table behind everything that is there, and changes no answer', () => {
  expect(write('', '/home/me/x')).toBe('[project."/home/me/x"]\nmode = "copy"\n');
  const text = '# mine\nmemory = "4g"\n[[mcp]]\nname = "a"\nurl = "https://a.test"';
  expect(write(text, '/x', 'bind')).toBe(`${text}\n\n[project."/x"]\nmode = "bind"\n`);
  const both = write(write('', '/x'), '/y', 'bind');
  expect(both).toBe('[project."/x"]\nmode = "copy"\n\n[project."/y"]\nmode = "bind"\n');
  expect(write(both, '/x', 'bind')).toBe(both);
});

it('adds the mode to a table that has only approvals', () => {
  const text = '[project."/x"]\napproved = ["a"]\n\n[plugin]\ntools = ["t"]\n';
  expect(write(text, '/x')).toBe(text.replace('"/x"]', '"/x"]\nmode = "copy"'));
  expect(write(text, '/y')).toBe(`${text}\n[project."/y"]\nmode = "copy"\n`);
  expect(() => write("[project.'/x']\napproved = []\n", '/x')).toThrow('cannot be written there');
});

it('holds any path, and no path is more than a path', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (name) => {
      const root = `/${name.replaceAll('\0', '')}`;
      const settings = readConfigFile(write('memory = "4g"\n', root), 'config.toml');
      expect([...settings.projects]).toEqual([[root, { mode: 'copy' }]]);
      expect([...settings.values]).toEqual([['memory', 4096]]);
    }),
  );
  const hostile = '/x"]\nallow-host = ["evil.test"]\n[project."/y';
  expect([...readConfigFile(write('', hostile), 'config.toml').projects.keys()]).toEqual([hostile]);
  expect([...readConfigFile(write('', '/a\x7fb\u2028'), 'config.toml').projects.keys()]).toEqual(['/a\x7fb\u2028']);
});

it('is not written to a file that cannot be read, and reads nothing but a mode and approvals', () => {
  expect(() => write('memory = ', '/x')).toThrow('config.toml, line 1');
  expect(() => readConfigFile('[project."/x"]\nmemory = "1g"', 'config.toml')).toThrow("unknown key 'memory'");
  expect(() => readConfigFile('[project.x]\nmode = "copy"', 'config.toml')).toThrow('an absolute path');
});
