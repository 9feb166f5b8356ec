import type { SecretValue } from '../types/secret/secret-file.ts';
import { isHarmless, isRandom } from './harmless.ts';
import { isPublicName, isSecretName } from './names.ts';

/** The longest scheme, with the character before it. */
const MAX_SCHEME = 32;
const SCHEME = /\b[a-z][a-z0-9+.-]{1,30}$/i;
const PASSWORD = /([^\s:@/"'<>]{0,128}):([^\s@/"'<>]{1,512})@(?=[^\s"'<>])/y;
/** A token alone, in the place of the user. */
const TOKEN = /([^\s:@/"'<>]{20,512})@(?=[^\s"'<>])/y;
const REST = /[^\s"'<>]*/y;
const PARAMETER = /[?&;]([\w.-]{1,60})=([^&#\s"'<>;]{6,1000})/g;

/** Secrets of the addresses in a text: passwords, tokens in the place of a user, and parameters with the name of a secret. */
export function secretsOfAddresses(text: string): SecretValue[] {
  const found: SecretValue[] = [];
  let searched = 0;
  for (const at of addressesIn(text)) {
    const password = matchAt(PASSWORD, text, at)?.[2];
    if (password !== undefined && !isHarmless(password)) found.push(foundAt(password, PASSWORD.lastIndex - 1));
    const token = matchAt(TOKEN, text, at)?.[1];
    if (token !== undefined && isRandom(token)) found.push(foundAt(token, TOKEN.lastIndex - 1));
    // An address within another one is part of its parameters.
    if (at < searched) continue;
    const rest = matchAt(REST, text, at)?.[0] ?? '';
    searched = at + rest.length;
    for (const parameter of rest.slice(1).includes('?') ? rest.matchAll(PARAMETER) : []) {
      const [whole, name = '', value = ''] = parameter;
      if ((isSecretName(name) || isRandom(value)) && !isHarmless(value) && !isPublicName(name))
        found.push({ name, ...foundAt(value, at + parameter.index + whole.length) });
    }
  }
  return found;
}

/** Where addresses go on behind `://`. Most texts have few, so that no expression is tried at every character. */
function* addressesIn(text: string): Generator<number> {
  for (let at = text.indexOf('://'); at !== -1; at = text.indexOf('://', at + 3))
    if (SCHEME.test(text.slice(Math.max(0, at - MAX_SCHEME), at))) yield at + 3;
}

function matchAt(expression: RegExp, text: string, at: number): RegExpExecArray | null {
  expression.lastIndex = at;
  return expression.exec(text);
}

const foundAt = (value: string, end: number): SecretValue => ({ value, start: end - value.length, end });
