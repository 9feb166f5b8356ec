import { expect, it } from 'vitest';
import { readConfigFile } from '../../../src/config/config-file.ts';
import { addServer, removeServer } from '../../../src/config/mcp-table.ts';

const GITHUB = {
  name: 'github',
  url: 'https://api.example.org/mcp/',
  header: 'Authorization',
  from: ['sh', '-c', 'echo "Bearer $(pass show x)" \\ # no comment'],
  tools: ['get_issue', 'search'],
};
const OTHER = { name: 'docs', url: 'https://docs.example.org/mcp' };
const OWN = '# mine\nallow-host = ["example.org"] # also mine\n\n[audit.severities]\n"execute-bit" = "blocked"';

it('adds a server after what is there, and takes it away again', () => {
  const one = addServer(OWN, GITHUB, 'config.toml');
  expect(one.startsWith(`${OWN}\n\n[[mcp]]\nname = "github"\n`)).toBe(true);
  const two = addServer(one, OTHER, 'config.toml');
  expect(readConfigFile(two, 'config.toml').mcpServers).toEqual([GITHUB, OTHER]);
  expect(removeServer(two, 'docs', 'config.toml').trimEnd()).toBe(one.trimEnd());
  const left = removeServer(two, 'github', 'config.toml');
  expect(readConfigFile(left, 'config.toml').mcpServers).toEqual([OTHER]);
  expect(left).toContain(OWN);
  const commented = `${addServer('', OTHER, 'c')}\n# about the next one\n[audit.severities]\n`;
  expect(removeServer(commented, 'docs', 'c')).toContain('# about the next one\n[audit.severities]');
  expect(readConfigFile(addServer('', OTHER, 'c'), 'c').mcpServers).toEqual([OTHER]);
});

it('refuses a name that is there, one that is not, and one that a file cannot have', () => {
  const one = addServer('', OTHER, 'c');
  expect(() => addServer(one, OTHER, 'c')).toThrow('has an MCP server docs already');
  expect(() => removeServer(one, 'github', 'c')).toThrow('has no MCP server github');
  for (const name of ['', 'a b', '../x', 'é']) expect(() => addServer('', { ...OTHER, name }, 'c')).toThrow();
  expect(() => addServer('', { ...OTHER, header: 'X' }, 'c')).toThrow('belong together');
});

it('leaves a file alone where other lines are among those of a server', () => {
  const odd = 'mcp = [{ name = "docs", url = "https://docs.example.org/mcp" }]\n';
  expect(() => removeServer(odd, 'docs', 'c')).toThrow('is mixed with others');
});
