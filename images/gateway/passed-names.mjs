// What of a request passes to a host whose requests are read, besides its method and path: names of parameters, headers
// and types of bodies. All three are lists of what passes. A list of what is refused has gaps: PHP reads `?+_method=`
// and `?.method=` as `_method`, and each API has headers of its own for another user or another token.

/** @param {string} text */
const words = (text) => text.trim().split(/\s+/);

/**
 * Parameters of common APIs that choose, sort, filter and page what an address shows. None of them names another
 * method, user or token.
 */
const PARAMETERS = words(`
  page per_page perPage page_size pageSize limit offset start startAt maxResults count size skip take first last n
  after before cursor marker pageToken page_token next_token
  sort sort_by sortBy order order_by orderBy direction
  q query search text filter fields select include exclude expand state status type kind scope lang language format
  labels label milestone assignee author creator mentioned topic keyword
  since until created_after created_before updated_after updated_before
  ref ref_name sha head_sha path file branch tag tags base head recursive depth deep list archived owned membership
  visibility affiliation simple statistics all name event version prerelease semVerLevel jql digest service write go-get
  $top $skip $filter $select $orderby $expand $count $search
`);

/** Headers about the client, about the form of the answer, about caches, and of the protocols of package managers. */
const HEADERS = words(`
  accept accept-charset accept-encoding accept-language user-agent prefer idempotency-key
  cache-control pragma if-match if-none-match if-modified-since if-unmodified-since if-range range
  content-disposition content-range content-md5 content-digest digest
  git-protocol x-github-api-version notion-version npm-command npm-scope npm-session npm-in-ci
`);

/** Of MCP over HTTP, in addition. */
const MCP_HEADERS = ['mcp-session-id', 'mcp-protocol-version', 'last-event-id'];

/** Types of bodies that pass unread. No server reads one as a form, or as names and values. */
const TYPES = ['application/octet-stream'];

/**
 * @typedef {import('../../src/core/types/gateway.ts').BrokeredHost} BrokeredHost
 * @typedef {{ parameters: ReadonlySet<string>, headers: ReadonlySet<string>, types: ReadonlySet<string> }} PassedNames
 */

/** What passes with the requests of a rule. @param {Pick<BrokeredHost, 'also' | 'mcp'>} rule @returns {PassedNames} */
export function passedNames({ also = {}, mcp }) {
  const lower = (/** @type {readonly string[] | undefined} */ names = []) => names.map((name) => name.toLowerCase());
  return {
    parameters: new Set([...PARAMETERS, ...(also.parameters ?? [])]),
    headers: new Set([...HEADERS, ...(mcp === undefined ? [] : MCP_HEADERS), ...lower(also.headers)]),
    types: new Set([...TYPES, ...lower(also.contentTypes)]),
  };
}

/** A name, with members in brackets: 'labels[]', 'filter[author]'. */
const NAME = /^([A-Za-z0-9$_.~-]+)(?:\[[A-Za-z0-9$_.~-]*\])*$/;
/** The value of a parameter in an address: percent-encoded, and no `;`, which some servers read as `&`. */
const QUERY_VALUE = /^(?:[A-Za-z0-9._~!$'()*+,:@/=[\]-]|%[0-9A-Fa-f]{2})*$/;
/** In a body, clients encode less. */
const FORM_VALUE = /^[^&;\u0000-\u001f\u007f]*$/;

/**
 * Why a text of parameters does not pass, or undefined when it does. Names are compared as they are written: one with
 * another encoding than that of brackets is not on any list.
 * @param {string} text @param {ReadonlySet<string>} names @param {'query' | 'form'} from @returns {string | undefined}
 */
export function refusedParameter(text, names, from) {
  for (const pair of text.split('&')) {
    const at = pair.indexOf('=');
    const written = at < 0 ? pair : pair.slice(0, at);
    const value = at < 0 ? '' : pair.slice(at + 1);
    const [, name] = NAME.exec(written.replace(/%5b/gi, '[').replace(/%5d/gi, ']')) ?? [];
    if (name === undefined || !names.has(name))
      return `the parameter ${JSON.stringify(written.slice(0, 80))} is not among those that the rule lets pass`;
    if (!(from === 'query' ? QUERY_VALUE : FORM_VALUE).test(value))
      return `the value of the parameter ${name} is not plain`;
  }
  return undefined;
}
