// Used by .github/workflows/release.yml:
//   prepare TAG OWNER/NAME  checks that the tag is this version and has its changes, and fills the fields of package.json
//                           that name the repository
//   notes                   prints the changes of this version, from CHANGELOG.md
import { readFileSync, writeFileSync } from 'node:fs';

/** What package.json has in place of the owner until a release. */
const PLACEHOLDER = 'https://github.com/OWNER/run-claude';

/**
 * @param {string} changelog @param {string} version
 * @returns {string} the text of its section
 * @throws {Error} where the newest section is of another version, has no date, or has no text
 */
export function changesOf(changelog, version) {
  const [, heading = '', text = ''] = /^## ([^\n]*)\n(.*?)(?=^## |(?![\s\S]))/ms.exec(changelog) ?? [];
  if (!new RegExp(`^${version.replaceAll('.', '\\.')} \\(\\d{4}-\\d\\d-\\d\\d\\)$`).test(heading)) {
    throw new Error(`CHANGELOG.md begins with '${heading}', and ${version} with its date is released`);
  }
  if (text.trim() === '') throw new Error(`CHANGELOG.md has no changes of ${version}`);
  return text.trim();
}

/**
 * @param {string} manifest the text of package.json
 * @param {string} repository OWNER/NAME on GitHub
 * @returns {string} with the repository in place of the placeholders
 * @throws {Error} where the name is not one of GitHub's, or nothing is to be filled
 */
export function fillRepository(manifest, repository) {
  if (!/^[\w-]+\/[\w.-]+$/.test(repository)) throw new Error(`'${repository}' is not OWNER/NAME`);
  if (!manifest.includes(PLACEHOLDER)) throw new Error('package.json has no fields that name OWNER');
  return manifest.replaceAll(PLACEHOLDER, `https://github.com/${repository}`);
}

/** @param {string} tag @param {string} repository */
function prepare(tag, repository) {
  const manifest = readFileSync('package.json', 'utf8');
  const { version } = JSON.parse(manifest);
  if (tag !== `v${version}`) throw new Error(`the tag is '${tag}', and package.json has the version ${version}`);
  changesOf(readFileSync('CHANGELOG.md', 'utf8'), version);
  writeFileSync('package.json', fillRepository(manifest, repository));
}

function notes() {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  process.stdout.write(`${changesOf(readFileSync('CHANGELOG.md', 'utf8'), version)}\n`);
}

if (process.argv[1] === import.meta.filename) {
  const [action, ...words] = process.argv.slice(2);
  try {
    if (action === 'prepare' && words.length === 2) prepare(words[0] ?? '', words[1] ?? '');
    else if (action === 'notes') notes();
    else throw new Error('usage: node scripts/release.mjs prepare TAG OWNER/NAME, or notes');
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    process.exitCode = 1;
  }
}
