// Bodies of requests to a host whose requests are read. A body is judged as an address is: a form that a server could
// read as another method is refused, and the headers that describe the body are written anew.
import { Refused } from './egress.mjs';
import { judgeShape } from './held-body.mjs';
import { cleanName } from './names.mjs';
import { refusedParameter } from './passed-names.mjs';

/** Of one body that is read, and of all that are read at once. */
export const READ_BODIES = { body: 16 * 1024 * 1024, all: 32 * 1024 * 1024 };
const SHAPE = { nodes: 500_000, depth: 200 };

const FORM = 'application/x-www-form-urlencoded';
const TYPE = /^([\w.+-]+\/[\w.+-]+)(\s*;\s*charset="?utf-8"?)?$/i;

/**
 * How a body is judged: by what is in it, or by its type alone. `headers` describe it on the next hop.
 * @typedef {{ kind: 'json' | 'form' | 'unread', headers: readonly string[] }} BodyForm
 * @typedef {import('./passed-names.mjs').PassedNames} PassedNames
 */

/** @param {import('node:http').IncomingMessage} request */
export function hasBody({ headers }) {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** @param {import('node:http').IncomingMessage} request @param {string} name */
const valuesOf = ({ rawHeaders }, name) =>
  rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase().replaceAll('_', '-') === name);

/** git's own requests: a pack goes to the address that is named like its type. @param {string} url @param {string} type */
function isGitStep(url, type) {
  const [path = ''] = url.split('?', 1);
  const step = /\/(git-(?:upload|receive)-pack)$/.exec(path)?.[1];
  return step !== undefined && type === `application/x-${step}-request`;
}

/**
 * The form of a request's body; undefined without one. Throws Refused for a form that one of the rules does not let pass.
 * @param {import('node:http').IncomingMessage} request @param {readonly PassedNames[]} rules
 * @returns {BodyForm | undefined}
 */
export function bodyForm(request, rules) {
  if (!hasBody(request)) return undefined;
  const [value = '', ...more] = valuesOf(request, 'content-type');
  const [type = ''] = value
    .toLowerCase()
    .split(';', 1)
    .map((text) => text.trim());
  // Without a type, a server guesses one.
  if (type === '' || more.length > 0) throw new Refused('a request with a body names its content-type, once');
  const codings = valuesOf(request, 'content-encoding').filter((one) => one.toLowerCase() !== 'identity');
  if (isGitStep(request.url ?? '', type) || rules.every(({ types }) => types.has(type)))
    return { kind: 'unread', headers: ['content-type', value, ...codings.flatMap((one) => ['content-encoding', one])] };
  const isJson = type === 'application/json' || /^application\/[\w.-]+\+json$/.test(type);
  if (!isJson && type !== FORM)
    throw new Refused(`the content-type ${cleanName(type)} is not among those that the rule lets pass`);
  if (codings.length > 0 || !TYPE.test(value))
    throw new Refused(
      `a body of the type ${cleanName(type)} is read: it has no content-encoding, and no charset but utf-8`,
    );
  return { kind: isJson ? 'json' : 'form', headers: ['content-type', type] };
}

/** Throws Refused for a body in which a server could read what the rules do not let pass.
 * @param {Buffer} bytes @param {'json' | 'form'} kind @param {readonly PassedNames[]} rules */
export function judgeBody(bytes, kind, rules) {
  if (kind === 'json') judgeJson(bytes);
  else
    for (const { parameters } of rules) {
      const why = refusedParameter(bytes.toString('latin1'), parameters, 'form');
      if (why !== undefined) throw new Refused(`the form in the body: ${why}`);
    }
}

/** Some frameworks look for the method among the members of an object, as among the fields of a form. @param {string} name */
function namesMethod(name) {
  const letters = name.toLowerCase().replace(/[^a-z]/g, '');
  return /^(x?http)?methodoverride$|^x?httpmethod$/.test(letters) || (letters === 'method' && /^[^a-z]/i.test(name));
}

/** @param {Buffer} bytes */
function judgeJson(bytes) {
  judgeShape(bytes, SHAPE);
  /** @type {unknown} */
  let value;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) throw new Refused('the body is not JSON');
    throw error;
  }
  if (typeof value !== 'object' || value === null) return;
  const named = Object.keys(value).find(namesMethod);
  if (named !== undefined)
    throw new Refused(`the member ${JSON.stringify(named.slice(0, 80))} of the body names another method`);
}
