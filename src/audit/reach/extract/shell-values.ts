import { oneOf, pattern } from '../../formats/words.ts';
import { wordsOf } from '../names.ts';

/** Programs that run the text that they read. */
const INTERPRETERS = oneOf`
  (?:ba|z|da|k|fi)?sh python[\d.]{0,4} node ruby perl php Rscript lua tclsh
`;
const DATABASES = oneOf`psql sqlite3 mysql mariadb mongosh? duckdb`;
/** The end of a pipeline: an interpreter without a file, or a database with any words. */
const RUNS_INPUT = pattern()`\|[ \t]{0,9}(?:sudo[ \t]{1,9})?(?:(?:${INTERPRETERS})(?:[ \t]{1,9}-[eusx]{0,4})?[ \t]{0,9}(?:$|[;&|)"'\x60])|(?:${DATABASES})\b)`;
/** A loop over the lines of a file. */
const LINES_OF = /\bdone[ \t]{0,9}<[ \t]{0,9}["']?((?:\.{1,2}\/)*\w[\w./-]{0,200})/g;
const RUNS_TEXT = /\beval\b|\b(?:ba|z|da|k)?sh[ \t]{1,9}-c\b/;
const PATH = /(?<![\w@./$-])((?:\.{1,2}\/)*[\w@][\w@.-]{0,100}(?:\/[\w@.-]{1,100}){0,20})/g;
const MAX_LINE = 2000;

/** Files whose text a shell runs: those of a pipeline that ends in an interpreter, and of a loop that evaluates each line. */
export function filesOfRunText(text: string): string[] {
  const pipelines = text.includes('|')
    ? text.split('\n').flatMap((line) => (line.length <= MAX_LINE ? sourcesOf(line) : []))
    : [];
  return [...pipelines, ...(RUNS_TEXT.test(text) ? wordsOf(LINES_OF, text) : [])];
}

/** The paths before the interpreter. A name without a folder and an ending is the name of a program. */
function sourcesOf(line: string): string[] {
  const at = line.search(RUNS_INPUT);
  return at < 0 ? [] : wordsOf(PATH, line.slice(0, at)).filter((word) => /[./]/.test(word));
}

const CONSTANT =
  /^[ \t]{0,20}(?:(?:export|readonly|local|override)[ \t]{1,4})?([A-Za-z_]\w{0,40})[ \t]{0,20}:{0,2}\??=[ \t]{0,20}["']?([\w./${}()-]{1,200})["']?[ \t]{0,20}$/gm;
const VARIABLE = /\$(?:\{(\w{1,41})\}|\((\w{1,41})\)|(\w{1,41}))/g;
/** A constant may be made of others, to this depth. */
const MAX_ROUNDS = 3;
const MAX_ADDED_CHARS = 1 << 17;

/** The lines of a text that use its constants, with their values in place: a path may be made of several. */
export function linesWithConstants(text: string): string {
  if (!text.includes('=') || !text.includes('$')) return '';
  const constants = new Map([...text.matchAll(CONSTANT)].map(([, name = '', value = '']) => [name, value]));
  if (constants.size === 0) return '';
  const lines: string[] = [];
  let chars = 0;
  for (const line of text.split('\n')) {
    if (line.length > MAX_LINE || !line.includes('$')) continue;
    let filled = line;
    for (let round = 0; round < MAX_ROUNDS && filled.length <= MAX_LINE; round += 1)
      filled = filled.replace(VARIABLE, (whole, ...names: (string | undefined)[]) => {
        const name = names[0] ?? names[1] ?? names[2] ?? '';
        return constants.get(name) ?? whole;
      });
    if (filled === line) continue;
    chars += filled.length;
    if (chars > MAX_ADDED_CHARS) break;
    lines.push(filled);
  }
  return lines.join('\n');
}
