// Which requests to a host pass, where its rules name methods and paths. A request is compared as it is: what two servers
// could read as two different paths is refused, not normalised. Parameters are judged in passed-names.mjs.
import { refusedParameter } from './passed-names.mjs';

/** @typedef {import('../../src/core/types/gateway.ts').RequestRule} RequestRule */

/** A segment of plain characters: nothing that a server decodes, cuts or resolves. */
const PLAIN_SEGMENT = /^(?!\.{1,2}$)[A-Za-z0-9._~!$'()+,=:@-]+$/;
/** One request to these can hold many: a wildcard does not stand for them. */
const MANY_IN_ONE = /^(\$?batch|bulk|_bulk|_msearch|graphql|gql|jsonrpc|xmlrpc|\$query)(\.\w+)?$/i;
/** A repository's path in plain characters: nothing that a server could decode or normalise into another one. */
const UPLOAD_PACK = /^(\/(?!\.{1,2}\/)[A-Za-z0-9._~-]+)+\/git-upload-pack$/;
const MAX_PATH = 4096;

/**
 * Whether the rule's methods let the request pass. git's own reads are POSTs, and the first step of a push is a GET.
 * @param {readonly string[]} methods @param {string} method @param {string} url
 */
export function methodAllowed(methods, method, url) {
  const writes = !methods.every((one) => one === 'GET' || one === 'HEAD' || one === 'OPTIONS');
  const push = stepOfPush(url);
  if (push !== undefined) return method === push && writes && methods.includes('POST');
  if (method === 'POST' && UPLOAD_PACK.test(url)) return methods.includes('GET');
  return methods.includes(method) || (method === 'HEAD' && methods.includes('GET'));
}

/** The method of a push's first or second step, where the address is one of them. @param {string} url
 * @returns {'GET' | 'POST' | undefined} */
function stepOfPush(url) {
  const [path, query = ''] = splitOnce(url);
  if (path.endsWith('/git-receive-pack')) return 'POST';
  const isFirst = path.endsWith('/info/refs') && /receive/i.test(decodeURIComponentSafe(query));
  return isFirst ? 'GET' : undefined;
}

/**
 * Why the parameters in an address do not pass; undefined when they do.
 * @param {string} url @param {ReadonlySet<string>} parameters names that pass @returns {string | undefined}
 */
export function refusedQuery(url, parameters) {
  const [, query] = splitOnce(url);
  return query === undefined ? undefined : refusedParameter(query, parameters, 'query');
}

/**
 * Whether one of the requests that a rule names is this one, by its method and path. A push needs its own rule: reading by `GET /name.git/**`
 * includes neither its first step, which is a GET, nor the second.
 * @param {readonly RequestRule[]} requests @param {string} method
 * @param {string} url
 */
export function requestAllowed(requests, method, url) {
  const [path, query] = splitOnce(url);
  const one = (/** @type {string} */ asked, /** @type {string} */ target) =>
    requests.some((rule) => requestMatches(rule, asked, target));
  const push = stepOfPush(url);
  if (push === 'GET')
    return (
      method === 'GET' &&
      query === 'service=git-receive-pack' &&
      namesPush(requests, path.replace(/info\/refs$/, 'git-receive-pack'))
    );
  if (push === 'POST') return method === 'POST' && query === undefined && namesPush(requests, path);
  // The second step of git's own reads.
  if (method === 'POST' && UPLOAD_PACK.test(url)) return one('POST', url) || one('GET', url);
  return one(method, url);
}

/** Whether a rule spells the second step of a push to this repository.
 * @param {readonly RequestRule[]} requests @param {string} path */
function namesPush(requests, path) {
  return requests.some((rule) => rule.method === 'POST' && rule.path === path);
}

/** @param {string} text */
function decodeURIComponentSafe(text) {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    // A query that can't be read is taken for a push: refused under read-only methods.
    if (error instanceof URIError) return 'receive';
    throw error;
  }
}

/**
 * @param {RequestRule} rule @param {string} method @param {string} url path and query as the client wrote them
 * @returns {boolean}
 */
function requestMatches(rule, method, url) {
  const [path = ''] = splitOnce(url);
  if (url.length > MAX_PATH) return false;
  const isMethod = rule.method === method || (rule.method === 'GET' && method === 'HEAD');
  return isMethod && pathMatches(rule.path.split('/').slice(1), path.split('/').slice(1), path.startsWith('/'));
}

/** Path and query. @param {string} url @returns {[string, string | undefined]} */
function splitOnce(url) {
  const at = url.indexOf('?');
  return at < 0 ? [url, undefined] : [url.slice(0, at), url.slice(at + 1)];
}

/** @param {readonly string[]} pattern @param {readonly string[]} segments @param {boolean} isAbsolute */
function pathMatches(pattern, segments, isAbsolute) {
  if (!isAbsolute) return false;
  const isOpen = pattern.at(-1) === '**';
  const fixed = isOpen ? pattern.slice(0, -1) : pattern;
  if (segments.length < fixed.length || (!isOpen && segments.length > fixed.length)) return false;
  return segments.every((segment, index) => {
    const wanted = fixed[index];
    if (wanted !== undefined) return segmentMatches(wanted, segment);
    // A slash at the end, below '**', names the folder itself.
    return isWild(segment) || (segment === '' && index === segments.length - 1);
  });
}

/** @param {string} segment */
const isWild = (segment) => PLAIN_SEGMENT.test(segment) && !MANY_IN_ONE.test(segment);

/** `*` stands for plain characters; everything else for itself, byte for byte. @param {string} wanted
 * @param {string} segment */
function segmentMatches(wanted, segment) {
  if (!wanted.includes('*')) return wanted === segment;
  const [first = '', last = ''] = wanted.split('*');
  return (
    isWild(segment) &&
    segment.length >= first.length + last.length &&
    segment.startsWith(first) &&
    segment.endsWith(last)
  );
}
