import type { Found } from '../general-rules/rule.ts';
import type { TextChange } from './text-change.ts';

/** Code that a generator of pages runs: what starts programs, reads or writes files, or loads other code. */
const ACTS =
  /\b(?:child_process|exec\w{0,10}\s?\(|spawn\w{0,8}\s?\(|process\.|eval\s?\(|Function\s?\(|fetch\s?\(|XMLHttpRequest|node:|fs\b|require\s?\(|import\s?\(|system\s?\(|subprocess|os\.|__import__|open\s?\(|await\b)/;
const IMPORTS =
  /\bfrom\s{0,9}["'](?:node:[^"']{1,80}|(?:fs|child_process|os|http|https|net|vm)(?:\/[^"']{1,80})?|[^"'\n]{1,200}\.(?:node|wasm))["']/;
/** A fence that is run when the page is built. */
const RUN_FENCE = /^[ \t]{0,20}(?:`{3,}|~{3,})[^\n]{0,200}(?:\bexec\s?=|\{code-cell\}|\{jupyter-execute\}|\{exec\})/;
/** A fence of reStructuredText: only some of its directives run what they hold. */
const REST_FENCE = /^[ \t]{0,20}(?:`{3,}|~{3,})\{eval-rst\}/;
/** Directives that show a page and names of code, and run nothing. */
const SHOWS =
  /^[ \t]{0,20}\.\. (?:auto\w{1,30}|[\w-]{0,20}tab(?:s|le|-set|-item)?|rst-class|class|note|warning|tip|hint|admonition|important|caution|attention|danger|error|seealso|todo|deprecated|version\w{1,20}|code(?:-block)?|sourcecode|literalinclude|highlight|toctree|contents|image|figure|rubric|sidebar|topic|epigraph|list-table|csv-table|math|only|index|glossary|py:\w{1,30}|(?:current)?module|function|data|exception|attribute|method)::/;
const DIRECTIVE =
  /^[ \t]{0,20}\.\. (?:exec|exec_code|program-output|command-output|runcmd|ipython|jupyter-execute|execute_code|runblock)::/;

/** In an example that a directive may run: modules, and names by which Python reaches the rest of itself. */
const REACHES = /^[ \t]{0,40}(?:import|from)[ \t]|__\w{1,40}__|\b(?:getattr|globals|vars|compile|builtins)\b/;

/** Deeper than any directive. */
const MAX_INDENT = 1000;

const PAGE = /\.(md|mdx|markdown|mdoc|svx|rst|njk|liquid)$/i;

/** New lines of a page that its generator runs, where they do more than put values on the page. */
export function programOfPage({ path, text, oldText = '' }: TextChange): readonly Found[] {
  if (!PAGE.test(path)) return [];
  const old = new Set(runLines(path, oldText));
  const [detail] = runLines(path, text).filter((line) => !old.has(line));
  return detail === undefined ? [] : [{ detail }];
}

/** The lines of a page that are run and that act. */
function runLines(path: string, text: string): string[] {
  const isModule = /\.(mdx|svx)$/i.test(path);
  const found: string[] = [];
  let fence: string | undefined;
  let [isScript, isFront, isRun, isRest] = [false, false, false, false];
  let indent = MAX_INDENT;
  for (const [at, line] of text.split('\n').entries()) {
    if (at === 0 && /^---\s{0,4}(?:js|javascript|node|coffee|cjs|mjs)\s{0,4}$/i.test(line)) {
      isFront = true;
      found.push(line);
    } else if (isFront) {
      if (/^---/.test(line)) isFront = false;
      else found.push(line);
    } else if (fence !== undefined) {
      if (line.trim().startsWith(fence)) fence = undefined;
      else if (isRest && line.search(/\S/) <= indent && /^[ \t]{0,20}\.\. [\w:-]{1,60}::/.test(line)) {
        // What is indented below belongs to the directive, whatever it looks like.
        isRun = !SHOWS.test(line);
        indent = isRun ? line.search(/\S/) : MAX_INDENT;
        if (DIRECTIVE.test(line)) found.push(line);
      } else if (isRun && (!isRest || acts(line) || REACHES.test(line))) found.push(line);
    } else if (isScript) {
      if (/<\/script>/i.test(line)) isScript = false;
      else if (acts(line)) found.push(line);
    } else if (/^[ \t]{0,3}(?:`{3}|~{3})/.test(line)) {
      fence = line.trim().slice(0, 3);
      isRun = RUN_FENCE.test(line);
      isRest = REST_FENCE.test(line);
      indent = MAX_INDENT;
      if (isRun) found.push(line);
    } else if (/^[ \t]{0,3}<script\b/i.test(line)) {
      isScript = !/<\/script>/i.test(line);
      if (acts(line)) found.push(line);
    } else if (DIRECTIVE.test(line) || (isModule && /^(?:export|import)\s/.test(line) && acts(line))) found.push(line);
  }
  return found.map((line) => line.trim().slice(0, 120)).filter((line) => line !== '');
}

const acts = (line: string): boolean => ACTS.test(line.slice(0, 2000)) || IMPORTS.test(line.slice(0, 2000));
