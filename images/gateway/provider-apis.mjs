// Which requests of a provider's API pass the broker, by kind of API, and how a request gets its credential.
import { otherApi } from './other-apis.mjs';
import { signedHeaders } from './sigv4.mjs';

/**
 * @typedef {import('../../src/core/types/agent/credential.ts').Secret} Secret
 * @typedef {import('../../src/core/types/agent/credential.ts').ProviderApi} ProviderApi
 * counted: the provider charges for its tokens. model: the one that the path names.
 * @typedef {{ counted: boolean, model?: string }} Passed
 */

const MODELS = /^\/v1\/models(\/[A-Za-z0-9][A-Za-z0-9._-]*)?$/;
/** What follows the '?' of a request to the Messages API. */
const PLAIN_QUERY = /^[A-Za-z0-9_=&.,%-]{0,200}$/;
const BEDROCK = /^\/model\/([A-Za-z0-9._:%-]{1,512})\/(invoke|invoke-with-response-stream|count-tokens)$/;
/** Models of Anthropic, and inference profiles of the user's account, which only its owner can create. */
const BEDROCK_MODEL =
  /^([a-z-]+\.)?anthropic\.[A-Za-z0-9._:-]+$|^arn:aws[a-z-]*:bedrock:[A-Za-z0-9:-]*(\/[A-Za-z0-9][A-Za-z0-9._:-]*)+$/;
/** How AWS reports that a key is not, or no longer, valid; 403 alone also means a model that the account may not use. */
const SPENT_KEY = /expired|unrecognizedclient|invalidclienttoken|invalidsignature/i;

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return '';
    throw error;
  }
}

/** @param {string} text */
const quoted = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Undefined for a request that does not pass. @param {ProviderApi} api @param {string} method @param {string} path
 * @param {string | undefined} query @returns {Passed | undefined} */
export function passedBy(api, method, path, query) {
  const other = otherApi(api);
  if (other !== undefined) return other.passes(method, path, query);
  if (api.kind === 'anthropic') {
    if (query !== undefined && !PLAIN_QUERY.test(query)) return undefined;
    if (method === 'POST' && path === '/v1/messages') return { counted: true };
    if (method === 'POST' && path === '/v1/messages/count_tokens') return { counted: false };
    return method === 'GET' && MODELS.test(path) ? { counted: false } : undefined;
  }
  if (method !== 'POST' || query !== undefined) return undefined;
  if (api.kind === 'bedrock') {
    const [, id = '', verb] = BEDROCK.exec(path) ?? [];
    const model = decoded(id);
    return BEDROCK_MODEL.test(model) ? { counted: verb !== 'count-tokens', model } : undefined;
  }
  if (api.kind !== 'vertex') return undefined;
  const below = `/projects/${api.project}/locations/${api.region}/publishers/anthropic/models/`;
  const call = new RegExp(`^${quoted(below)}([A-Za-z0-9][A-Za-z0-9@._-]*):(rawPredict|streamRawPredict)$`).exec(path);
  const model = call?.[1];
  return model === undefined ? undefined : { counted: model !== 'count-tokens', model };
}

/** The headers that carry the credential, names and values in turn. @param {ProviderApi} api @param {Secret} secret
 * @param {import('./sigv4.mjs').Signed} request @returns {string[]} */
export function credentialHeaders(api, secret, request) {
  const other = otherApi(api);
  if (other !== undefined) return other.credential(secret);
  if (secret.kind === 'api-key') return ['x-api-key', secret.value];
  if (secret.kind !== 'aws-keys' || api.kind !== 'bedrock') return ['authorization', `Bearer ${secret.value}`];
  return signedHeaders(request, JSON.parse(secret.value), { region: api.region, service: 'bedrock' }, new Date());
}

/** Whether the answer reports that the credential is no longer valid. @param {ProviderApi} api
 * @param {import('node:http').IncomingMessage} answer */
export function refusesCredential(api, answer) {
  if (answer.statusCode === 401) return true;
  return (
    api.kind === 'bedrock' && answer.statusCode === 403 && SPENT_KEY.test(String(answer.headers['x-amzn-errortype']))
  );
}

/** The parts of a credential that must never be in an answer. @param {Secret} secret @returns {string[]} */
export function secretWords(secret) {
  if (secret.kind !== 'aws-keys') return [secret.value];
  const { secretAccessKey, sessionToken } = JSON.parse(secret.value);
  return [secretAccessKey, sessionToken].filter((word) => typeof word === 'string');
}
