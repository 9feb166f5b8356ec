import { oneOf, pattern } from '../formats/words.ts';

const ENDINGS = oneOf`
  js cjs mjs jsx ts cts mts tsx coffee litcoffee civet py pyw pyc pyx pyz xsh rb rake lua luau moon php phar phtml pl
  pm raku sh bash zsh ksh dash csh tcsh fish nu elv ps1 psm1 psd1 bat cmd vbs vbe wsf hta awk tcl star bzl kts
  groovy gvy exs ex erl escript hs lhs ml el elc lisp scm rkt clj cljs bb jl R r nim cr zig swift scala sc dart go rs
  node wasm so dll dylib exe jar class pyd command scpt applescript ahk
`;
/** Names that tools run, by their ending. */
const PROGRAM = pattern('i')`\.(${ENDINGS})$|(^|\/)(jake|cake)file$`;

/** How a program begins, or what only a program holds: a first line for the kernel, a module's exports or imports. */
const SIGNS = [
  /^\ufeff?#!/,
  /^[ \t]*(?:module\.exports|exports\.\w+|exports\.default)\s*=/m,
  /^[ \t]*export[ \t]+(?:default\b|\{|const[ \t]+\w+[ \t]*=|(?:async[ \t]+)?function\b)/m,
  /^[ \t]*import[ \t]+(?:[\w*{][^;'"\n]{0,300}[ \t]from[ \t]*)?["'][^"'\n]{1,300}["'][ \t]*(?:;[ \t]*)?$/m,
  /^[ \t]*(?:const|let|var)[ \t]+[\w{[][^=\n]{0,300}=[ \t]*(?:await[ \t]+)?(?:require|import)[ \t]*\(/m,
  /^[ \t]*(?:from[ \t]+[\w.]+[ \t]+import[ \t]+[\w(*]|import[ \t]+[\w.]+(?:[ \t]+as[ \t]+\w+)?[ \t]*$|def[ \t]+\w+[ \t]*\([^\n]{0,300}:[ \t]*$)/m,
];

/** Text, pictures, sound and fonts that people read and no tool runs. What has sections that run (svg, pdf, tex) is not here. */
const READ_ONLY = pattern('i')`\.(${oneOf`
  txt text log md markdown csv tsv srt vtt png jpg jpeg gif webp avif ico bmp tif tiff heic
  mp3 ogg wav flac mp4 webm mov woff woff2 ttf otf
`})$`;

/** Whether files with the ending of this name are only read by people. */
export const isReadByPeople = (path: string): boolean => READ_ONLY.test(path);

/** Whether tools take a file for a program by the ending of its name. */
export const isProgramName = (path: string): boolean => PROGRAM.test(path);

/** A file that its ending, its first line or its content shows as a program, or that became executable. */
export function isProgram({
  path,
  after = '',
  change,
}: {
  readonly path: string;
  readonly after: string | undefined;
  readonly change: { readonly before?: { readonly mode: number }; readonly after?: { readonly mode: number } };
}): boolean {
  if (isProgramName(path)) return true;
  const isMode = (entry: { readonly mode: number } | undefined): boolean => ((entry?.mode ?? 0) & 0o111) !== 0;
  if (isMode(change.after) && !isMode(change.before)) return true;
  const head = after.slice(0, HEAD_CHARS);
  return SIGNS.some((sign) => sign.test(head));
}

/** So many characters are searched for the signs of a program. */
const HEAD_CHARS = 20_000;
