import type { SecretValue } from '../types/secret/secret-file.ts';
import { secretsOfAddresses } from './addresses.ts';
import { type Assignment, assignmentsIn } from './assignments.ts';
import { ASSIGNED, entropy, FORMATS, PLACEHOLDER } from './formats.ts';
import { isAmount, isHarmless, isPlace, isRandom } from './harmless.ts';
import { secretKind } from './kinds.ts';
import { isAmountName, isPublicName, isSecretName } from './names.ts';
import { secretsOfSettings } from './settings.ts';

/**
 * The secrets of a text, in their order and apart from each other. In a file of a secret kind a value is one by a known
 * pattern, by its name or because it looks generated; in any other file by a known pattern alone, and by a telling name
 * where an ignore rule keeps the file from others (`isPrivate`).
 */
export function secretValues(path: string, text: string, isPrivate = false): SecretValue[] {
  const kind = secretKind(path);
  const isParsed = kind !== undefined && kind.form === 'values';
  const found = [
    ...keyBlocks(text),
    ...secretsOfAddresses(text),
    ...(isParsed ? [...named(text), ...byPlace(path, text)] : assignedAnywhere(text)),
    ...(isPrivate && kind === undefined ? secretsOfSettings(path, text) : []),
    // Behind the others: of two at one place the first is kept, which has a name.
    ...byPattern(text),
  ];
  return apart(isParsed && kind.isBare && found.length === 0 ? bareValues(path, text) : found);
}

/** The text with a decoy in place of each secret. Everything else stays, character for character. */
export function maskedText(
  path: string,
  text: string,
  decoyFor: (value: SecretValue) => string,
  isPrivate = false,
): string {
  const parts: string[] = [];
  let from = 0;
  for (const value of secretValues(path, text, isPrivate)) {
    parts.push(text.slice(from, value.start), decoyFor(value));
    from = value.end;
  }
  return from === 0 ? text : [...parts, text.slice(from)].join('');
}

/** Whether a text has a secret. */
export function holdsSecret(path: string, text: string): boolean {
  return secretValues(path, text).length > 0;
}

/** The outer and earlier one of two that overlap. */
function apart(found: readonly SecretValue[]): SecretValue[] {
  const sorted = found.toSorted((one, other) => one.start - other.start || other.end - one.end);
  const kept: SecretValue[] = [];
  for (const value of sorted) if (value.start >= (kept.at(-1)?.end ?? 0)) kept.push(value);
  return kept;
}

function named(text: string): SecretValue[] {
  return assignmentsIn(text).flatMap((one) => {
    const value = text.slice(one.start, one.end);
    return isSecret(one, value) ? [{ name: one.name, value, start: one.start, end: one.end }] : [];
  });
}

function isSecret({ name, isSecretByPlace }: Assignment, value: string): boolean {
  if (value.length === 0 || isHarmless(value) || isPublicName(name)) return false;
  // Key blocks, and the passwords and parameters of URLs, are found by themselves.
  if (value.includes('PRIVATE KEY') || /^[a-z][a-z0-9+.-]*:\/\/[^\s]*$/i.test(value)) return false;
  if (isSecretByPlace === true) return true;
  if (isSecretName(name)) return !isPlace(value) && !(isAmount(value) && (isAmountName(name) || value.length < 4));
  return isRandom(value) && !isPlace(value);
}

const KEY_BLOCK = /-----BEGIN ((?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?)-----[\s\S]*?(?:-----END \1-----|$(?![\s\S]))/g;

function keyBlocks(text: string): SecretValue[] {
  if (!text.includes('PRIVATE KEY')) return [];
  return [...text.matchAll(KEY_BLOCK)].map((match) => valueAt(match[0], match.index));
}

const GLOBAL = FORMATS.filter(([kind]) => kind !== 'private key' && kind !== 'password in a URL').map(
  ([kind, mark, secret]) => [kind, mark, new RegExp(secret.source, `${secret.flags}g`)] as const,
);
const HEADER = /\b(?:Bearer|Basic|Token)\s+([A-Za-z0-9._~+/=-]{16,2000})/gi;
/** Whether a text may have a secret of a known format: one search in place of one for each of them. */
const MARKS = ['', 'i'].map(
  (flags) =>
    new RegExp(GLOBAL.flatMap(([, mark]) => (mark.flags === flags ? [`(?:${mark.source})`] : [])).join('|'), flags),
);
/** Of a pattern that starts with the name of the value, only the value is the secret. */
const NAMED = /^(?:AccountKey=|:_authToken\s{0,4}=\s{0,4}["']?|aws_?secret_?access_?key["']?\s{0,4}[:=]\s{0,4}["']?)/i;

function byPattern(text: string): SecretValue[] {
  const found: SecretValue[] = [];
  const mayHave = MARKS.some((marks) => marks.test(text));
  for (const [, mark, secret] of mayHave ? GLOBAL : []) {
    if (!mark.test(text)) continue;
    for (const match of text.matchAll(secret)) {
      const lead = NAMED.exec(match[0])?.[0].length ?? 0;
      if (!PLACEHOLDER.test(match[0])) found.push(valueAt(match[0].slice(lead), match.index + lead));
    }
  }
  if (/Bearer|Basic|Token/i.test(text))
    for (const match of text.matchAll(HEADER)) {
      const value = match[1] as string;
      if (isRandom(value) && !PLACEHOLDER.test(value))
        found.push(valueAt(value, match.index + match[0].length - value.length));
    }
  return found;
}

const ASSIGNED_ALL = new RegExp(ASSIGNED.source, `${ASSIGNED.flags}g`);

function assignedAnywhere(text: string): SecretValue[] {
  return [...text.matchAll(ASSIGNED_ALL)].flatMap((match) => {
    const value = match[1] as string;
    if (PLACEHOLDER.test(match[0]) || entropy(value) <= 3.6) return [];
    return [valueAt(value, match.index + match[0].length - 1 - value.length)];
  });
}

/** What the place in a file of a certain name says, without a name of its own. */
const BY_PLACE: readonly (readonly [path: RegExp, value: RegExp])[] = [
  [/(?:^|\/)[._]netrc(?![a-z])/, /\bpassword\s+("[^"\n]+"|\S+)/g],
  [/(?:^|\/)\.pgpass(?![a-z])/, /^(?:(?:[^:\r\n\u2028\u2029\\]|\\.)*:){4}([^\r\n]+)/gm],
  [/(?:^|\/)\.htpasswd(?![a-z])/, /^[^:\r\n\u2028\u2029]+:([^\r\n]+)/gm],
];

function byPlace(path: string, text: string): SecretValue[] {
  return BY_PLACE.filter(([at]) => at.test(path.toLowerCase())).flatMap(([, expression]) =>
    [...text.matchAll(expression)].map((match) => {
      const value = match[1] as string;
      return valueAt(value, match.index + match[0].length - value.length);
    }),
  );
}

/** Lines of a file that holds values alone: a password of Docker, the master key of Rails. */
function bareValues(path: string, text: string): SecretValue[] {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const lines = [...text.matchAll(/[^\r\n]+/g)].filter((line) => line[0].trim() !== '');
  if (lines.some(([line]) => line.startsWith('-----BEGIN')) || text.includes('\0')) return [];
  return lines.flatMap((line) => {
    const content = line[0].replace(/^\uFEFF/, '').trim();
    const isValue = lines.length <= MAX_BARE_LINES ? !isHarmless(content) : isRandom(content);
    return isValue && !content.startsWith('#')
      ? [{ name, ...valueAt(content, line.index + line[0].indexOf(content)) }]
      : [];
  });
}

const MAX_BARE_LINES = 3;

const valueAt = (value: string, start: number): SecretValue => ({ value, start, end: start + value.length });
