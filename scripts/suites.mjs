// Which suites test which folder of src/: test/suites.md, and the files that no short suite tests. A suite is named by its
// subject: test/KIND/AREA/FOLDER/NAME.test.ts is about src/AREA/FOLDER. Pure, but for readModules.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync, Visitor } from 'rolldown/utils';
import { arrowsOf, readImports } from './imports.mjs';

/** @typedef {ReadonlyMap<string, string>} Modules path from the repository's root → text, of src/ and test/ */
/** @typedef {{ file: string, kind: string, folder: string, name: string, isLong: boolean }} Suite `folder` below src/ */

/** Kinds of suites that load the files of src/; those of `e2e` start the built command. */
const LOADING = ['unit', 'engine', 'attacks'];
const KINDS = [...LOADING, 'e2e'];

/** @param {string} root of the repository @returns {Modules} */
export function readModules(root) {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'src', 'test'], {
    cwd: root,
    encoding: 'utf8',
  });
  const files = listed.split('\n').filter((file) => /\.m?[jt]s$/.test(file));
  // What is deleted and not yet committed is still listed.
  const existing = files.filter((file) => existsSync(path.join(root, file)));
  return new Map(existing.map((file) => [file, readFileSync(path.join(root, file), 'utf8')]));
}

/** @param {Iterable<string>} files @returns {Suite[]} sorted by name */
export function suitesOf(files) {
  return [...files]
    .flatMap((file) => {
      const [, kind = '', folder = '', name = '', long] =
        /^test\/(\w+)\/(?:(.+)\/)?([\w-]+)(\.long)?\.test\.ts$/.exec(file) ?? [];
      return KINDS.includes(kind) ? [{ file, kind, folder, name, isLong: long !== undefined }] : [];
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** @param {string} file in src/ @returns {string} below src/; the program's first file belongs to `cli` */
function folderOf(file) {
  return file === 'src/main.ts' ? 'cli' : path.posix.dirname(file).slice('src/'.length);
}

/** A file that does something: it has a function. @param {string} file @param {string} text */
function hasLogic(file, text) {
  let isFound = false;
  const found = () => {
    isFound = true;
  };
  const visitor = { FunctionDeclaration: found, FunctionExpression: found, ArrowFunctionExpression: found };
  new Visitor(visitor).visit(parseSync(file, text).program);
  return isFound;
}

/** What each module loads when it runs: its imports, and the programs and threads that it names. @param {Modules} modules */
function loadsOf(modules) {
  /** @type {Map<string, string[]>} */
  const loads = new Map();
  for (const [file, text] of modules) {
    const named = text.matchAll(/'(\.[^']*-(?:program|worker))\.(?:ts|cjs)'/g);
    loads.set(
      file,
      [...named].map(([, name = '']) => path.posix.join(path.posix.dirname(file), `${name}.ts`)),
    );
  }
  const imports = new Map([...modules].map(([file, text]) => [file, readImports(file, text)]));
  for (const { from, to, isType } of arrowsOf(imports)) if (!isType) loads.get(from)?.push(to);
  return loads;
}

/**
 * Files of src/ with a function that no short suite tests. One that does is in the folder of the file or in one above it
 * and loads the file, or imports the file itself, or starts the command and is in the folder of the file.
 * @param {Modules} modules
 * @returns {string[]} sorted
 */
export function untestedFiles(modules) {
  const loads = loadsOf(modules);
  const suites = suitesOf(modules.keys()).filter(({ isLong }) => !isLong);
  /** @type {Set<string>} */
  const tested = new Set();
  /** @param {string} from @param {(file: string) => boolean} isFollowed */
  const reach = (from, isFollowed) => {
    const seen = new Set([from]);
    for (const file of seen) if (isFollowed(file)) for (const next of loads.get(file) ?? []) seen.add(next);
    return [...seen].filter((file) => file.startsWith('src/'));
  };
  for (const { file: suite, kind, folder } of suites) {
    for (const file of reach(suite, (one) => one.startsWith('test/'))) tested.add(file);
    if (!LOADING.includes(kind) || folder === '') continue;
    for (const file of reach(suite, () => true)) if (`${folderOf(file)}/`.startsWith(`${folder}/`)) tested.add(file);
  }
  const started = new Set(suites.filter(({ kind }) => kind === 'e2e').map(({ folder }) => folder));
  // What is left is parsed once more: few files.
  return [...modules]
    .filter(([file]) => file.startsWith('src/') && !tested.has(file) && !started.has(folderOf(file)))
    .filter(([file, text]) => hasLogic(file, text))
    .map(([file]) => file)
    .sort();
}

/**
 * @param {Iterable<string>} files of src/ and test/
 * @returns {string} test/suites.md
 */
export function drawSuites(files) {
  const all = [...files];
  const suites = suitesOf(all);
  const folders = [...new Set(all.filter((file) => /^src\/.*\.ts$/.test(file)).map(folderOf))].sort();
  /** @param {string} folder @param {boolean} isLong */
  const cell = (folder, isLong) =>
    KINDS.flatMap((kind) => {
      const named = suites.filter((one) => one.folder === folder && one.kind === kind && one.isLong === isLong);
      return named.length === 0 ? [] : [`${kind}: ${named.map(({ name }) => name).join(', ')}`];
    }).join('; ');
  const rows = folders.map((folder) => `| \`${folder}\` | ${cell(folder, false)} | ${cell(folder, true)} |`);
  const elsewhere = [...new Set(suites.map(({ folder }) => folder))]
    .filter((folder) => !folders.includes(folder))
    .sort();
  return [
    '# Suites',
    '',
    '<!-- Written by npm run generate. -->',
    '',
    'A suite is named by its subject: `test/KIND/AREA/FOLDER/NAME.test.ts` tests `src/AREA/FOLDER`, and the folders below it. The long ones (`NAME.long.test.ts`) are not part of `npm test`.',
    '',
    '| folder of `src/` | suites | long suites |',
    '| --- | --- | --- |',
    ...rows,
    '',
    '| other subjects | suites | long suites |',
    '| --- | --- | --- |',
    ...elsewhere.map((folder) => `| ${folder || '·'} | ${cell(folder, false)} | ${cell(folder, true)} |`),
    '',
  ].join('\n');
}
