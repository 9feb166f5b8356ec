const SECRET_NAME = '[\\w.-]*(?:token|secret|password|passwd|api[-_]?key|authorization|credential)[\\w.-]*';
/** A word that is one assignment: everything after the `=` or `:` is the value. */
const ASSIGNED_WORD = new RegExp(`^(-{0,2}${SECRET_NAME}[=:]).+`, 'is');
/** An assignment within a longer word, such as the script of `sh -c`. */
const ASSIGNED_INSIDE = new RegExp(
  `(${SECRET_NAME}["']?\\s*[=:]\\s*)(?:(?:Bearer|Basic)\\s+)?(?:"[^"]*"|'[^']*'|[^\\s;&|]+)`,
  'gi',
);
/** An option whose value follows: within a longer word, and as its own word. */
const OPTION_INSIDE = new RegExp(`(\\s-{1,2}${SECRET_NAME}\\s+)(?:"[^"]*"|'[^']*'|[^\\s;&|]+)`, 'gi');
const OPTION_WORD = new RegExp(`^-{1,2}${SECRET_NAME}$`, 'i');
const LOGIN_OPTION = /^(?:-u|--user|--proxy-user)$/;
const URL_LOGIN = /\/\/[^/@\s]+@/g;
/** Tokens with a known prefix: Anthropic, OpenAI, GitHub, GitLab, Slack, AWS. */
const KNOWN_TOKEN =
  /\b(?:sk-[\w-]{8,}|gh[pousr]_\w{8,}|github_pat_\w{8,}|glpat-[\w-]{8,}|xox[abprs]-[\w-]{8,}|AKIA[0-9A-Z]{12,})/g;
const MASK = '[masked]';

/** The words of a command line for output: values that look like secrets are masked. */
export function maskWords(words: readonly string[]): string[] {
  return words.map((word, at) => {
    const before = words[at - 1] ?? '';
    if (OPTION_WORD.test(before) && !word.startsWith('-')) return MASK;
    if (LOGIN_OPTION.test(before) && word.includes(':')) return MASK;
    return word
      .replace(ASSIGNED_WORD, `$1${MASK}`)
      .replaceAll(ASSIGNED_INSIDE, `$1${MASK}`)
      .replaceAll(OPTION_INSIDE, `$1${MASK}`)
      .replaceAll(URL_LOGIN, `//${MASK}@`)
      .replaceAll(KNOWN_TOKEN, MASK);
  });
}
