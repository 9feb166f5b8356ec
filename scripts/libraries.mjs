// The table of libraries in docs/internals/architecture.md: every package that src/ imports. Pure, but for readLicenses.
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** @typedef {import('./imports.mjs').Sources} Sources */

/** What each library does for run-claude. @type {Readonly<Record<string, string>>} */
const TASKS = {
  '@modelcontextprotocol/sdk': 'messages of the MCP server that `mcp serve` is',
  '@secretlint/secretlint-rule-preset-recommend': 'formats of credentials, in changed files',
  diff: 'differences of two texts, by lines and words',
  dockerode: 'the API of Docker and Podman; its BuildKit and SSH parts are left out',
  enquirer: 'one line of input on a terminal',
  'jsonc-parser': 'JSON with comments, with the place of each value',
  'node-diff3': 'merge of a changed file with its current one',
  picocolors: 'colours of a terminal',
  'smol-toml': 'TOML: configuration, and files that the audit reads',
  'tar-fs': 'archives of directories of run-claude',
  'tar-stream': 'archives from memory',
  ws: 'WebSockets to Kubernetes',
  yaml: 'YAML that the audit reads',
  zod: 'shapes of configuration, reports and messages',
};

/** @param {string} specifier @returns {string} */
const packageOf = (specifier) => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');

/** @param {Sources} sources @returns {Map<string, string[]>} library → folders of src/ that load it, sorted */
export function importedLibraries(sources) {
  /** @type {Map<string, Set<string>>} */
  const found = new Map();
  for (const [file, imports] of sources) {
    if (!file.startsWith('src/')) continue;
    for (const { specifier, isType } of imports) {
      if (isType || /^(?:\.|node:)/.test(specifier)) continue;
      const name = packageOf(specifier);
      found.set(name, (found.get(name) ?? new Set()).add(path.posix.dirname(file).slice('src/'.length)));
    }
  }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, folders]) => [name, [...folders].sort()]));
}

/** @param {string} root of the repository @param {Iterable<string>} names @returns {Map<string, string>} */
export function readLicenses(root, names) {
  const read = (/** @type {string} */ name) =>
    JSON.parse(readFileSync(path.join(root, 'node_modules', name, 'package.json'), 'utf8')).license;
  return new Map([...names].map((name) => [name, read(name)]));
}

/**
 * @param {Map<string, string[]>} libraries @param {Map<string, string>} licenses
 * @param {Readonly<Record<string, string>>} tasks
 * @returns {string} a table
 * @throws {Error} where a library has no task, or a task no library
 */
export function drawLibraries(libraries, licenses, tasks = TASKS) {
  const unused = Object.keys(tasks).find((name) => !libraries.has(name));
  if (unused !== undefined) throw new Error(`scripts/libraries.mjs: nothing in src/ imports ${unused}`);
  const rows = [...libraries].map(([name, folders]) => {
    if (tasks[name] === undefined) throw new Error(`scripts/libraries.mjs has no task for ${name}`);
    return `| ${name} | ${licenses.get(name)} | ${tasks[name]} | ${folders.map((one) => `\`${one}\``).join(', ')} |`;
  });
  return ['| library | license | used for | in |', '|---|---|---|---|', ...rows].join('\n');
}
