/** A word that no shell changes: no quote, expansion, pattern, comment or operator. A leading `=` is a path in zsh. */
const PLAIN_WORD = /^[A-Za-z0-9_./:@%+,-][A-Za-z0-9_./:@%+,=-]*$/;
const SINGLE_QUOTED = /^'([^'\p{Cc}]*)'$/u;
/** History expansion (`!`) is off in a script, and refused all the same. */
const DOUBLE_QUOTED = /^"([^"$`\\!\p{Cc}]*)"$/u;
/** No path: `./git` would be a program of the project. */
const PROGRAM = /^[A-Za-z0-9][A-Za-z0-9._+-]*$/;

/**
 * The words of a command that is one simple command in every shell: a program by its name, then plain or quoted words,
 * with single spaces between them. undefined for any other text: operators, expansions, redirections, assignments, more
 * than one line.
 */
export function simpleWords(command: string): readonly string[] | undefined {
  const words: string[] = [];
  // Quoted text may hold spaces, so that the pieces are cut by the forms and not at each space.
  const piece = /('[^']*'|"[^"]*"|[^ '"]+)( |$)/gy;
  let end = 0;
  for (let match = piece.exec(command); match !== null; match = piece.exec(command)) {
    const text = match[1] ?? '';
    const word = PLAIN_WORD.test(text) ? text : (SINGLE_QUOTED.exec(text)?.[1] ?? DOUBLE_QUOTED.exec(text)?.[1]);
    if (word === undefined) return undefined;
    words.push(word);
    end = piece.lastIndex;
    if (match[2] === '') break;
  }
  const [program] = words;
  if (end !== command.length || command.endsWith(' ') || program === undefined) return undefined;
  // A quoted program name is one too, but nobody writes it.
  return PROGRAM.test(program) && command.startsWith(program) ? words : undefined;
}
