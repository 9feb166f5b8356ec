import { oneOf, pattern } from '../formats/words.ts';

const COMMENTED = /\.(ya?ml|toml)$|(^|\/)(gnu)?makefile$/i;
/** How comments begin that a tool reads: shebangs, directives of editors, schemas and preprocessors. */
const READ_WORDS = oneOf`
  ! include define undef pragma if elif else end line import syntax escape check yaml-language-server schema :schema vim?: ex: -\*- \. @
  requires
`;
const READ = pattern('i')`^#\s*(${READ_WORDS})|\\$|-\*-|\$schema|eval:|[^\t\x20-\x7e\u00a1-\u024f]`;

/** Whether a tool may read a comment, or what it is beside: it is not for readers alone. The line has no blanks before it. */
export const isReadComment = (line: string): boolean => READ.test(line);

/**
 * Whether two texts of YAML, TOML or make differ in comments and empty lines alone. A comment that a tool may read, or
 * one next to a continued line, is not a comment here.
 */
export function differInCommentsOnly(path: string, before: string, after: string): boolean {
  if (!COMMENTED.test(path)) return false;
  return meaning(before) === meaning(after);
}

function meaning(text: string): string {
  const kept: string[] = [];
  let continued = false;
  for (const line of text.split('\n')) {
    const trimmed = line.trim();
    const isComment = trimmed.startsWith('#') && !isReadComment(trimmed) && !continued;
    if (!isComment && (trimmed !== '' || continued)) kept.push(line);
    continued = trimmed.endsWith('\\');
  }
  return kept.join('\n');
}
