import type { SecretValue } from '../types/secret/secret-file.ts';
import { assignmentsIn } from './assignments.ts';
import { isAmount, isHarmless, isPlace } from './harmless.ts';
import { isPublicName, isPublishedName, isTellingName } from './names.ts';

/** Files that hold settings and nothing else; also those without a suffix, and scripts of a shell. */
const SETTINGS =
  /(?:^|\/)(?:[^/]*\.(?:ya?ml|ini|cfg|conf|cnf|config|properties|toml|hcl|sh|bash|zsh|fish|local|env)|\.?[^./]+|\.?env\.[^/.]+)$/i;
/** What builds and tests write: pages, bundles and reports have names of secrets in them, and no secret of the user's. */
const MADE =
  /(?:^|\/)(?:dist|build|out|output|coverage|public|_site|www|generated|bin|obj|\.next|\.nuxt|\.output|\.svelte-kit|\.vercel|\.turbo|\.parcel-cache|\.angular|\.webpack|storybook-static|htmlcov)\//i;
const MADE_NAME = /(?:\.min\.js|\.map|\.tsbuildinfo|cache|[.-]lock(?:\.\w+)?|-lock\.\w+)$/i;

/** The secrets of a file by the names of its values, where only an ignore rule says that the file is private. */
export function secretsOfSettings(path: string, text: string): SecretValue[] {
  if (text.includes('\0') || MADE.test(path) || MADE_NAME.test(path)) return [];
  const isPlainSettings = SETTINGS.test(path) && !/^\s*[{<]/.test(text);
  return assignmentsIn(text).flatMap(({ name, start, end, isSecretByPlace }) => {
    const value = text.slice(start, end);
    if (isHarmless(value) || isPublicName(name) || isPublishedName(name)) return [];
    const isNamed = isTellingName(name) && !isPlace(value) && !isAmount(value);
    if (isSecretByPlace !== true && !isNamed) return [];
    const isText = isPlainSettings || /["'>[]/.test(text[start - 1] ?? '');
    return isPlainSettings || (isText && isTellingText(value)) ? [{ name, value, start, end }] : [];
  });
}

/** Whether a value in code or data looks like a secret: labels and names of types have no digit, and texts have blanks. */
function isTellingText(value: string): boolean {
  return value.length >= MIN_TELLING && /\d/.test(value) && /[a-z]/i.test(value) && /^[^\s(){}$<>]+$/.test(value);
}

const MIN_TELLING = 8;
