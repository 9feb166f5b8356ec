import { parentPath } from '../../../core/text/path.ts';
import { isApplication } from '../application.ts';
import { type Name, named, placed, stringsOf, wordsOf } from '../names.ts';
import { namesOfStarted } from './commands.ts';

const IMPORT =
  /(?:\b(?:from|import|require(?:\.resolve)?)\s*(?:\(\s*)?|\bnew URL\(\s*)["'`](\.{1,2}\/[^"'`\\\n]{1,200}|\.{1,2})["'`]/g;
const BARE_IMPORT = /\b(?:from|import|require)\s*(?:\(\s*)?["']([@#\w][\w./@#-]{0,200})["']/g;
/** A path that is put together: from a folder and strings, or in a template. */
const JOINED =
  /(?:\b(?:const|let|var)\s+(\w{1,60})\s{0,9}=\s{0,9}(?:path\.)?)?\b(?:join|resolve)\(\s*(?:__dirname|import\.meta\.dirname|process\.cwd\(\)|\w{0,30}(?:root|Root|ROOT|dir|Dir|DIR))\s{0,9},([^()\n]{1,300})\)/g;
const TEMPLATE = /`(\.{1,2}\/[^`\n]{0,200}\$\{[^`\n]{1,200})`/g;
/** Programs that are started. */
const STARTED = /\b(?:spawn|exec|execFile|fork|execa|\$)(?:Sync)?\s?[(`]([^)`\n]{1,300})/g;
/** A loader, a plugin or a rule that is not named by a literal. */
const LOADS = /\b(?:require|import|fork|load|exec\w*|spawn\w*)\s?\(\s?(?!["'`][^"'`\n]{1,200}["'`]\s?[,)])/;
const READS_FOLDER = /\b(?:readdir(?:Sync)?|opendir(?:Sync)?)\s?\(([^\n]{1,200})/g;
const LOADS_FOLDER =
  /\b(?:loadTasks|requireDir|require-dir["']\)|requireAll|require-all["']\)|includeAll)\s?\(([^\n]{1,200})/g;
const GLOBBED = /\b(?:glob|globby|globSync|fg|fastGlob|import\.meta\.glob)(?:\.sync|\.stream)?\s?\(\s?([^\n]{1,300})/g;
const RULES_FOLDER =
  /\b(?:rules?_?dir(?:ectory)?|rulePaths|resolveLoader|pluginPaths|plugins?_?dirs?)\b[^\n]{0,60}?(["'[][^\n]{1,200})/gi;

/** The files, folders and packages that a program of JavaScript or TypeScript imports, loads or starts. */
export function namesOfJavaScript(path: string, text: string): Name[] {
  const dir = parentPath(path);
  const all = [...text.matchAll(JOINED)];
  const data = dataVariables(text, new Set(all.slice(0, MAX_VARIABLES).map(([, name = '']) => name)));
  const joined = all.filter(([, name = '']) => !data.has(name)).map(([, , list = '']) => stringsOf(list).join('/'));
  const imports = [
    ...wordsOf(IMPORT, text).flatMap((word) => placed(dir, word) ?? []),
    ...joined.flatMap((word) => placed(dir, word) ?? []).filter((word) => !isApplication(word)),
  ];
  // TypeScript names the file that it will compile to.
  const modules = imports.flatMap((word) => [word, word.replace(/\.[cm]?jsx?$/i, '')]);
  const doesLoad = LOADS.test(text);
  const started = wordsOf(STARTED, text).map((list) => stringsOf(list).join(' ') || list);
  const folders = [
    ...(doesLoad ? wordsOf(READS_FOLDER, text).flatMap(pathsIn) : []),
    ...wordsOf(LOADS_FOLDER, text).flatMap(pathsIn),
    ...wordsOf(RULES_FOLDER, text).flatMap(pathsIn),
  ].filter((word) => !/node_modules/.test(word));
  const globs = [
    ...wordsOf(TEMPLATE, text).map((word) => word.replace(/\$\{[^}]{0,200}\}?/g, '*')),
    ...(doesLoad ? wordsOf(GLOBBED, text).flatMap(stringsOf) : []),
  ].filter((word) => word.includes('*'));
  const from = ['', dir];
  return [
    ...named('file', modules),
    ...named('module', modules),
    ...named(
      'module',
      joined.filter((word) => !isApplication(word)),
      [''],
    ),
    ...named('folder', folders, from),
    ...named('glob', globs, from),
    ...named('package', wordsOf(BARE_IMPORT, text), from),
    ...namesOfStarted(started, dir, STARTED_FILE),
  ];
}

const STARTED_FILE = /\.(sh|bash|py|rb|pl|[cm]?[jt]s|ps1|bat|cmd)$/i;

/** Variables that are asked about; a program with more of them was not written by hand. */
const MAX_VARIABLES = 20;

/** Of some variables those which a program uses as a path that it reads or writes, and in no other way. */
function dataVariables(text: string, names: ReadonlySet<string>): ReadonlySet<string> {
  if (EVALUATES.test(text)) return new Set();
  const isData = (name: string): boolean => {
    const count = (regex: RegExp): number => [...text.matchAll(regex)].length;
    const asData = count(new RegExp(`\\b(?:read|write|append)File(?:Sync)?\\s?\\(\\s?${name}\\s?[,)]`, 'g'));
    return name !== '' && asData > 0 && count(new RegExp(`\\b${name}\\b`, 'g')) === asData + 1;
  };
  return new Set([...names].filter(isData));
}

const EVALUATES = /\b(?:eval|Function|runIn\w{1,20}|compileFunction|_compile|spawn\w{0,8}|exec\w{0,10}|fork|vm)\b/;

/** The folder that the strings of a call stand for, together or one by one. */
function pathsIn(piece: string): string[] {
  const strings = stringsOf(piece).map((word) => word.replace(/(?<=[^/])\/+$/, ''));
  return strings.length > 1 ? [...strings, strings.join('/')] : strings;
}
