import { anyOf, oneOf, pattern, wholeLine } from '../../formats/words.ts';
import type { JudgedText } from '../../judges/rule.ts';

const TEXTS = oneOf`description longDescription homepage changelog pname name mainProgram license`;
const HASHES = oneOf`hash sha256 (vendor|cargo|npmDeps|pnpmDeps|output)(Hash|Sha256) rev version`;
const LISTS = oneOf`(native|propagated)?[bB]uildInputs (native|propagated)?(Build|Check)Inputs packages`;

/** Lines of a program of Nix that are plain data, wherever they are. */
const PLAIN = wholeLine(
  /#[^$]*/,
  pattern()`(${TEXTS})\s*=\s*"[^"$\\]*";`,
  pattern()`(${HASHES})\s*=\s*"[\w+/=.:-]*";`,
  /[\])}]+[;,]?/,
);
/** Packages, outside of a text: in one, each is a command of a shell. */
const PACKAGES = anyOf(
  /^(pkgs\.)?[A-Za-z_][\w.'-]*$/,
  pattern()`^(${LISTS})\s*=\s*(with\s+pkgs;\s*)?\[[\w.'\s-]*(\];?)?$`,
);
const SHOWN_CHARACTERS = 120;

/** New lines of a program of Nix that are not plain: a hook is a text of a shell, of which any line may be a command. */
export function nixLines({ after, added }: JudgedText): readonly string[] {
  const lines = added().filter(({ text }) => !PLAIN.test(text));
  if (after === undefined || lines.length === 0) return [];
  const inText = linesInTexts(after);
  return lines
    .filter(({ text, line }) => inText.has(line) || !PACKAGES.test(text))
    .map(({ text, line }) => `line ${line}: ${text.slice(0, SHOWN_CHARACTERS)}`);
}

/** What begins or ends a comment or a text, and the escapes of both kinds of texts. */
const MARK = /''['$\\]|''|\\[\s\S]|"|#|\/\*|\*\/|\n/g;

/** Numbers of the lines, from 1, that begin in a text of several lines. */
function linesInTexts(program: string): ReadonlySet<number> {
  const found = new Set<number>();
  let within: '' | '"' | "''" | '#' | '/*' = '';
  let line = 1;
  for (const [mark] of program.matchAll(MARK)) {
    if (mark.endsWith('\n')) {
      line += 1;
      if (within === '#') within = '';
      if (within === '"' || within === "''") found.add(line);
    } else if (within === '') {
      if (mark === '"' || mark === "''" || mark === '#' || mark === '/*') within = mark;
    } else if (within === mark || (within === '/*' && mark === '*/')) within = '';
  }
  return found;
}
