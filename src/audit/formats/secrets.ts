import { ASSIGNED, entropy, FORMATS, PLACEHOLDER } from '../../core/secrets/formats.ts';
import { nameOfPath } from '../../core/text/path.ts';
import { lazy } from './lazy.ts';
import { maintainedSecrets } from './maintained-secrets.ts';
import { prefilterOf } from './prefilter.ts';

/** Names under which secrets are kept. */
export const SECRET_NAME =
  /\.env|\.pem|\.key\b|\.p12|\.pfx|\.jks|keystore|secret|credential|id_rsa|id_ed25519|\.npmrc|\.netrc|\.aws|kubeconfig|token|password|\.htpasswd|\.kdbx|service-account/i;

/** Each secret of a known format holds what one of these matches. */
export const SECRET_MARKS: readonly RegExp[] = [...FORMATS.map(([, mark]) => mark), ASSIGNED];
const mayHaveMark = lazy(() => prefilterOf(SECRET_MARKS));
const EXAMPLE_FILE = /\.(example|sample|template|dist|tmpl)$|(^|\/)\.env\.example/i;

/**
 * Whether a line of a text may have a secret for {@link secretIn}. May be true without one, never false with one.
 * `candidates`: what a prefilter (prefilter.ts) of SECRET_MARKS gives for the text, where the caller has it.
 */
export function mayHoldSecret(text: string, candidates = mayHaveMark().candidates(text)): boolean {
  if (hasEncodedRun(text)) return true;
  return SECRET_MARKS.some((mark, number) => candidates[number] === 1 && mark.test(text));
}

/** Shorter base64 contains no secret of a known format. */
const SHORTEST_ENCODED = 40;
const isBase64 = lazy(() => {
  const table = new Uint8Array(0x10000);
  for (let code = 0; code < 128; code += 1) if (/[A-Za-z0-9+/]/.test(String.fromCharCode(code))) table[code] = 1;
  return table;
});

/**
 * Whether /[A-Za-z0-9+/]{40}/ matches: tests one character in forty, since a run of that length contains one of them.
 */
function hasEncodedRun(text: string): boolean {
  const table = isBase64();
  for (let at = SHORTEST_ENCODED - 1; at < text.length; at += SHORTEST_ENCODED) {
    if (table[text.charCodeAt(at)] === 0) continue;
    let from = at;
    while (from > 0 && at - from < SHORTEST_ENCODED && table[text.charCodeAt(from - 1)] === 1) from -= 1;
    let to = at + 1;
    while (to < text.length && to - from < SHORTEST_ENCODED && table[text.charCodeAt(to)] === 1) to += 1;
    if (to - from >= SHORTEST_ENCODED) return true;
  }
  return false;
}

/**
 * The secrets that secretlint's maintained rules find in new lines, by the index of the line, without examples and
 * placeholders. They are in addition to the formats of this file.
 */
export function secretsByOthers(lines: readonly string[], path: string): ReadonlyMap<number, string> {
  const found = new Map<number, string>();
  if (EXAMPLE_FILE.test(path)) return found;
  const text = lines.join('\n');
  for (const { kind, index, match } of maintainedSecrets(text, nameOfPath(path))) {
    if (PLACEHOLDER.test(match) || (TEST_FILE.test(path) && WORDS_OF_URL.test(match))) continue;
    const at = text.slice(0, index).split('\n').length - 1;
    if (!found.has(at)) found.set(at, `${kind}, as secretlint knows it`);
  }
  return found;
}

/** The kind of secret in a line, also behind one layer of base64, or undefined. Never the secret itself. */
export function secretIn(line: string, path: string): string | undefined {
  if (line.length < 16 || EXAMPLE_FILE.test(path)) return undefined;
  const plain = findSecret(line, TEST_FILE.test(path));
  if (plain !== undefined) return plain;
  for (const [word] of line.matchAll(/[A-Za-z0-9+/]{40,2000}={0,2}/g)) {
    const inner = findSecret(Buffer.from(word, 'base64').toString('latin1'));
    if (inner !== undefined && inner !== 'password in a URL') return `${inner}, in base64`;
  }
  return undefined;
}

/** Tests of URLs have users and passwords in them: words, and nothing that a server would take. */
const TEST_FILE = /(^|\/)(tests?|__tests__|specs?)\/|(^|\/)test_[^/]*$|[._-](test|spec)\.\w+$/i;
const WORDS_OF_URL = /:\/\/[^\s:@/]{1,64}:(?:[a-z]{1,15}|[A-Z]{1,15}|[a-z0-9]{1,8}|(?:%[0-9a-f]{2}|[a-z]){1,40})@/;

function findSecret(text: string, isTest = false): string | undefined {
  for (const [name, , regex] of FORMATS) {
    const match = regex.exec(text);
    if (match === null || PLACEHOLDER.test(match[0])) continue;
    if (!isTest || name !== 'password in a URL' || !WORDS_OF_URL.test(match[0])) return name;
  }
  const assigned = ASSIGNED.exec(text);
  if (assigned?.[1] !== undefined && !PLACEHOLDER.test(assigned[0]) && entropy(assigned[1]) > 3.6)
    return 'key or password in an assignment';
  return undefined;
}
