import { oneOf, pattern } from '../formats/words.ts';

/**
 * Programs that check, format, compile or delete the files that they are given, and run none of them. A loader that an
 * import names for ncc and webpack is a finding of the line, in whichever file (`source-loader`). Not here: bundlers that
 * run what their inputs name as macros, which are Bun, Parcel and Babel.
 */
const READERS = oneOf`
  eslint prettier stylelint oxlint oxfmt biome\x20(?:check|lint|format|ci) tsc rimraf premove del-cli publint attw esbuild tsup
  tsdown swc ncc markdownlint(?:-cli2)? cspell
`;
const FIRST_WORDS = pattern()`^\s*(?:[A-Z_][A-Z0-9_]*=[\w./-]*\s+)*(?:(?:npx|bunx|pnpm exec|yarn|cross-env)\s+)?(?:${READERS})(?=\s|$)`;
/** A file, folder or pattern: nothing that a shell expands to a command, and no option. */
const ARGUMENT = /^(["']?)[\w@./*{},!^+][\w@./*{},!^+-]*\1$/;
/** A command within the command. */
const NESTED = /\$\(|`|[<>]\(/;
/** One word in quotes. */
const QUOTED = /(?<=\s)(["'])[^\s"'\\]*\1(?=\s|$)/g;
/** Options without a value. The value of every other option stays: it may be a program, a plugin or a command. */
const SWITCH = /^--(fix|write|check|cache|quiet|build|noEmit|minify|watch|list-different|bundle)$/;

/** The scripts of a package.json without the files that a checker or a compiler is given; what its options name stays. */
export function withoutFilesOfReaders(scripts: string): string {
  return scripts.replace(/[^&|;\n]+/g, (command) => {
    const head = FIRST_WORDS.exec(command)?.[0];
    if (head === undefined) return command;
    const rest = command.slice(head.length);
    // Where the words are is not certain: each of them stays.
    if (NESTED.test(rest) || /["'\\]/.test(rest.replace(QUOTED, ''))) return command;
    let isValue = false;
    const kept = rest.split(/\s+/).filter((word) => {
      const isOption = /^["']?-/.test(word);
      const keep = isValue || isOption || !ARGUMENT.test(word);
      isValue = isOption && !word.includes('=') && !SWITCH.test(word);
      return keep;
    });
    return `${head} ${kept.join(' ')}`;
  });
}

/** Conditions of a shell that ask for a file: `-f` and `-r` run nothing there. */
export const withoutFileTests = (text: string): string =>
  text.replace(/((?:^|[\s;&|(])(?:\[\[?|test)\s+(?:!\s+)?)-[a-zA-Z]\s+/gm, '$1');

const STORES = /\buses:\s*["']?actions\/(?:upload-artifact|download-artifact|cache(?:\/(?:save|restore))?)@/;

/** A workflow without the paths that its steps upload, download or keep. */
export function withoutStoredPaths(text: string): string {
  const kept: string[] = [];
  let storeIndent = -1;
  for (const line of text.split('\n')) {
    const item = /^(\s*)(-\s+)?/.exec(line);
    const indent = item?.[1]?.length ?? 0;
    if (line.trim() !== '' && (item?.[2] !== undefined ? indent <= storeIndent : indent < storeIndent))
      storeIndent = -1;
    if (STORES.test(line)) storeIndent = item?.[2] === undefined ? Math.max(0, indent - 2) : indent;
    if (storeIndent < 0 || !/^\s*path:\s*["']?[\w./*-]+["']?\s*$/.test(line)) kept.push(line);
  }
  return kept.join('\n');
}
