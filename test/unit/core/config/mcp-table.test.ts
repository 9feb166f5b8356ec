import { expect, it } from 'vitest';
import { readConfigFile } from '../../../../src/core/config/config-file.ts';
import { addServer, removeServer } from '../../../../src/core/config/mcp-table.ts';

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

it('adds a server with a login in the browser, which has no other one', () => {
  const docs = { ...OTHER, oauth: true };
  const text = addServer('', docs, 'c');
  expect(text).toContain('\noauth = true\n');
  expect(readConfigFile(text, 'c').mcpServers).toEqual([docs]);
  expect(() => addServer('', { ...GITHUB, oauth: true }, 'c')).toThrow('without header and from');
  expect(() => readConfigFile('[[mcp]]\nname = "x"\ncommand = ["x"]\noauth = true\n', 'c')).toThrow('with url');
});

it('leaves a file alone where other lines are among those of a server', () => {
  const odd = 'mcp = [{ name = "docs", url = "https://docs.example.org/mcp" }]\n';
  expect(() => removeServer(odd, 'docs', 'c')).toThrow('is mixed with others');
});

const JIRA = {
  name: 'jira',
  command: ['node', 'server.js'],
  directory: '/home/me/mcp/jira',
  env: {},
  secrets: { JIRA_TOKEN: ['sh', '-c', 'pass show "jira"'] },
  hosts: ['jira.example.org'],
  tools: ['search'],
};

it('adds a server that is a program, and takes either kind away', () => {
  const text = addServer(addServer(OWN, GITHUB, 'c'), JIRA, 'c');
  expect(text).toContain('secrets = { JIRA_TOKEN = ["sh", "-c", "pass show \\"jira\\""] }');
  const both = readConfigFile(text, 'c');
  expect([both.mcpServers, both.mcpPrograms]).toEqual([[GITHUB], [JIRA]]);
  expect(() => addServer(text, { ...OTHER, name: 'jira' }, 'c')).toThrow('has an MCP server jira already');
  expect(readConfigFile(removeServer(text, 'github', 'c'), 'c')).toMatchObject({ mcpServers: [], mcpPrograms: [JIRA] });
  expect(removeServer(text, 'jira', 'c').trimEnd()).toBe(addServer(OWN, GITHUB, 'c').trimEnd());
});

it.each([
  ['neither', { name: 'x' }, 'either url or command'],
  ['both', { name: 'x', url: 'https://x/y', command: ['y'] }, 'either url or command'],
  [
    'an address with secrets of a program',
    { name: 'x', url: 'https://x/y', secrets: { A: ['b'] } },
    'belong to a server',
  ],
  ['a program with a header', { name: 'x', command: ['y'], header: 'A', from: ['b'] }, 'belong to a server with url'],
  ['a relative directory', { name: 'x', command: ['y'], directory: 'z' }, 'an absolute path'],
  ['a variable that is none', { name: 'x', command: ['y'], secrets: { 'A B': ['b'] } }, 'A B'],
])('refuses %s', (_, server, message) => {
  const rows = Object.entries(server).map(([key, value]) =>
    typeof value === 'object' && !Array.isArray(value)
      ? `${key} = { ${Object.entries(value).map(([name, one]) => `"${name}" = ${JSON.stringify(one)}`)} }`
      : `${key} = ${JSON.stringify(value)}`,
  );
  expect(() => readConfigFile(`[[mcp]]\n${rows.join('\n')}\n`, 'c')).toThrow(message);
});
