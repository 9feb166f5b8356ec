import { oneOf, pattern } from '../../formats/words.ts';
import { type Name, named, wordsOf } from '../names.ts';

/** A path of a pattern, or several of them. */
const GLOB = String.raw`[\w./*?{},@$(){}"-]{1,300}`;
/** `for f in checks/*.sh`, and `for f in $(ls checks)`. */
const LOOP = pattern('g')`\bfor[ \t]+(\w{1,40})[ \t]+in[ \t]+(${GLOB}(?:[ \t]${GLOB}){0,20})`;
/** A variable that is run, or that is read as a part of the caller. */
const RUNNERS = oneOf`
  (?:ba|z|da|k)?sh source\w* dotenv\w* \. node tsx bun deno\x20run python[\d.]* ruby perl php exec eval load require psql\x20-f
`;
const RUN_VARIABLE = pattern(
  'gm',
)`(?:^|[;&|(]|\bdo\b|\bthen\b)[ \t@-]{0,20}(?:(?:${RUNNERS})[ \t]{1,4})?["']?(?:\.\/)?\${1,2}[{(]?(\w{1,40})`;
/** What make includes, and what its variables stand for. */
const INCLUDE = /^[ \t]{0,20}(?:-include|sinclude|include)[ \t]([^\n#]{1,500})/gm;
const WILDCARD = /\$[({]wildcard[ \t]([^\n)}]{1,500})[)}]/g;
const WILDCARD_VARIABLE =
  /^[ \t]{0,20}([\w-]{1,60})[ \t]{0,4}[:?+]{0,2}=[^\n]{0,200}?\$[({]wildcard[ \t]([^\n)}]{1,500})[)}]/gm;
const TAKES_VARIABLE = pattern(
  'gm',
)`(?:^[ \t]{0,20}-?s?include[^\n]{0,100}|\bin[ \t]|\bforeach[ \t]\w{1,40},|(?:${RUNNERS})[ \t])[ \t]{0,4}\$[({]([\w-]{1,60})[)}]`;
/** CMake: patterns of files, in a list which it then includes. */
const CMAKE_GLOB = /\bfile\s{0,9}\(\s{0,9}GLOB(?:_RECURSE)?\s{1,9}\w{1,80}\s([^)]{1,1000})\)/gi;
const CMAKE_INCLUDES = /\b(?:include|execute_process)\s{0,9}\([^)]{0,300}\$\{/i;
/** What CI includes: `local: ci/*.yml`. */
const INCLUDED = /\blocal:[ \t]{0,9}["']?\/?([\w.@-][\w./@-]{0,100}\*[\w./*-]{0,100})/g;
/** One pattern and nothing else, in a list or alone. */
const WHOLE =
  /(?:^|[[,"'])[ \t]{0,9}(?:-[ \t]{1,4})?["']?(?:\.\/)?([\w.@-][\w./@-]{0,100}\*[\w./*-]{0,100}\.\w{1,8})/gm;
/** Programs of a folder, one after the other. */
const FIND =
  /\bfind[ \t]+([\w./-]{1,200})[^\n]{0,300}(?:\bxargs[^\n|]{0,60}|-exec(?:dir)?[ \t]+)(?:(?:ba|z|da|k)?sh|node|python[\d.]{0,4}|ruby|perl|source)\b/g;
/** The same of files with one ending. */
const FIND_NAMED =
  /\bfind[ \t]+([\w./-]{1,200})[^\n]{0,200}?-name[ \t]+["']?(\*[\w.*-]{1,80})["']?[^\n]{0,200}(?:\bxargs[^\n|]{0,60}|-exec(?:dir)?[ \t]+)(?:(?:ba|z|da|k)?sh|node|python[\d.]{0,4}|ruby|perl|source)\b/g;
/** An interpreter that is given a pattern of files. */
const GIVEN = pattern(
  'gm',
)`(?:^|[\s;&|(@])(?:(?:ba|z|da|k)?sh|source|node|python[\d.]{0,4}|ruby|perl|php|lua|Rscript|julia|octave|gnuplot|gdb[ \t]-x|psql[ \t]-f|sed[ \t]-f|awk[ \t]-f)[ \t]+([\w@./-]{0,200}\*[\w@./*-]{0,100})`;
const LISTED = /\$\((?:ls|find)[ \t]+([\w./-]{1,200})/g;
/** Endings of files that a compiler or a reader takes. */
const NOT_RUN = /\.(c|cc|cpp|cxx|h|hpp|o|a|so|s|go|java|md|rst|txt|adoc|png|svg|css|html?|d|dep|dvi|tex|pdf)$/i;

/** What the patterns of a text name where it runs or includes what they match. */
export function namesOfPatterns(text: string, from: readonly string[]): Name[] {
  if (!/[*]|\bfind\b|\$\(ls/.test(text)) return [];
  const run = new Set(wordsOf(RUN_VARIABLE, text));
  const loops = [...text.matchAll(LOOP)].filter(([, name = '']) => run.has(name)).map((match) => match[2] ?? '');
  const includes = wordsOf(INCLUDE, text).map((line) => line.replace(/\$[({]\w+[ \t]/g, ' '));
  const cmake = CMAKE_INCLUDES.test(text) ? wordsOf(CMAKE_GLOB, text) : [];
  // Tests are the application's own source.
  const given = wordsOf(GIVEN, text).filter((word) => !/test|spec/i.test(word));
  const endings = [...text.matchAll(FIND_NAMED)].map(([, folder = '', name = '']) => `${folder}/**/${name}`);
  const words = [...loops, ...given, ...includes, ...wildcardsOf(text), ...cmake].flatMap((list) =>
    list.split(/[\s"';)]+/),
  );
  const folders = [...wordsOf(FIND, text), ...loops.flatMap((list) => wordsOf(LISTED, list))];
  return [
    ...named(
      'glob',
      [...words.map(withoutVariables), ...endings, ...wordsOf(INCLUDED, text)].filter(isRunPattern),
      from,
    ),
    ...named('tree', folders, from),
  ];
}

/** The patterns of make whose files are run or included. */
function wildcardsOf(text: string): string[] {
  if (!text.includes('wildcard')) return [];
  const taken = new Set(wordsOf(TAKES_VARIABLE, text));
  return [
    ...[...text.matchAll(WILDCARD_VARIABLE)].filter(([, name = '']) => taken.has(name)).map((match) => match[2] ?? ''),
    ...wordsOf(WILDCARD, text).filter((words) => /\.(?:[bzdk]a?)?sh\b/.test(words)),
  ];
}

/** The patterns of settings whose values are files that a tool reads as its own. */
export const namesOfPatternValues = (text: string, from: readonly string[]): Name[] =>
  named('glob', wordsOf(WHOLE, text), from);

const isRunPattern = (word: string): boolean => word.includes('*') && !NOT_RUN.test(word);

/** A pattern from the folder that a variable at its beginning stands for. */
const withoutVariables = (word: string): string => word.replace(/^\$[({]?\w{1,60}[)}]?\//, '').replace(/^\/+/, '');
