import type { Found } from '../general-rules/rule.ts';
import type { TextChange } from './text-change.ts';

/** Code that a generator of pages runs: what starts programs, reads or writes files, or loads other code. */
const ACTS =
  /\b(?:child_process|exec\w{0,10}\s?\(|spawn\w{0,8}\s?\(|process\.|eval\s?\(|Function\s?\(|fetch\s?\(|XMLHttpRequest|node:|fs\b|require\s?\(|import\s?\(|system\s?\(|subprocess|os\.|__import__|open\s?\(|await\b)/;
const IMPORTS =
  /\bfrom\s{0,9}["'](?:node:[^"']{1,80}|(?:fs|child_process|os|http|https|net|vm)(?:\/[^"']{1,80})?|[^"'\n]{1,200}\.(?:node|wasm))["']/;
/** A fence that is run when the page is built. */
const RUN_FENCE =
  /^[ \t]{0,20}(?:`{3,}|~{3,})[^\n]{0,200}(?:\bexec\s?=|\{code-cell\}|\{jupyter-execute\}|\{eval-rst\}|\{exec\})/;
const DIRECTIVE =
  /^[ \t]{0,20}\.\. (?:exec|exec_code|program-output|command-output|runcmd|ipython|jupyter-execute|execute_code|runblock)::/;

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
  let [isScript, isFront, isRun] = [false, false, false];
  for (const [at, line] of text.split('\n').entries()) {
    if (at === 0 && /^---\s{0,4}(?:js|javascript|node|coffee|cjs|mjs)\s{0,4}$/i.test(line)) {
      isFront = true;
      found.push(line);
    } else if (isFront) {
      if (/^---/.test(line)) isFront = false;
      else found.push(line);
    } else if (fence !== undefined) {
      if (line.trim().startsWith(fence)) fence = undefined;
      else if (isRun) found.push(line);
    } else if (isScript) {
      if (/<\/script>/i.test(line)) isScript = false;
      else if (acts(line)) found.push(line);
    } else if (/^[ \t]{0,3}(?:`{3}|~{3})/.test(line)) {
      fence = line.trim().slice(0, 3);
      isRun = RUN_FENCE.test(line);
      if (isRun) found.push(line);
    } else if (/^[ \t]{0,3}<script\b/i.test(line)) {
      isScript = !/<\/script>/i.test(line);
      if (acts(line)) found.push(line);
    } else if (DIRECTIVE.test(line) || (isModule && /^(?:export|import)\s/.test(line) && acts(line))) found.push(line);
  }
  return found.map((line) => line.trim().slice(0, 120)).filter((line) => line !== '');
}

const acts = (line: string): boolean => ACTS.test(line.slice(0, 2000)) || IMPORTS.test(line.slice(0, 2000));
